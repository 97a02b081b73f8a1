#pragma once
// The trainer beside a server (trainer_process.h): it makes the pack of a run and turns articles into
// vectors.
//
//   ready     the version of the pack that was made, nothing if none was asked for
//   articles  their number, and of each title, abstract, category and subcategory, each with its length
//   vectors   their number and width, then the numbers
//
// Lengths, numbers and widths are 32 bits wide. The trainer says ready (or what went wrong) once, then
// answers articles with vectors until the socket is closed.

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "cli/trainer_process.h"
#include "serving/pool/serving_model.h"
#include "serving/served_run_settings.h"

namespace sotto::cli {

constexpr std::size_t most_articles = 1024;  // in a frame

std::string articles_body(std::span<const serving::CatalogueItem> articles);
Result<std::vector<serving::CatalogueItem>> parse_articles(std::string_view bytes);
std::string vectors_body(std::span<const std::vector<float>> vectors);
Result<std::vector<std::vector<float>>> parse_vectors(std::string_view bytes);

// Safe to call from several threads; one batch is encoded at a time.
class EncoderProcess final : public serving::ItemEncoder {
 public:
  // Starts nothing yet. trained: when the parameters were written; a trainer is not started with others.
  EncoderProcess(fs::path run, fs::path data, fs::file_time_type trained)
      : run_(std::move(run)), data_(std::move(data)), trained_(trained) {}
  EncoderProcess(const EncoderProcess&) = delete;
  EncoderProcess& operator=(const EncoderProcess&) = delete;

  void expect(fs::file_time_type trained) {
    const std::lock_guard lock(mutex_);
    trained_ = trained;
  }
  // Writes the pack of the run and returns its version. Ctrl-C stops it.
  Result<std::string> make_pack(const fs::path& pack_file, const serving::ServedRunSettings& settings);
  // Starts the trainer if it does not run; one that fails is ended, and the next call starts another.
  Result<std::vector<std::vector<float>>> encode(
      std::span<const serving::CatalogueItem> items) const override;

 private:
  // What it says when it is ready.
  Result<std::string> start(const std::vector<std::string>& more_arguments, bool shown) const;
  Result<std::vector<std::vector<float>>> encode_batch(std::span<const serving::CatalogueItem> items) const;

  const fs::path run_, data_;
  fs::file_time_type trained_;
  mutable std::mutex mutex_;
  mutable std::optional<TrainerProcess> trainer_;
};

}  // namespace sotto::cli
