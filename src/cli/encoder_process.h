#pragma once
// The trainer as a process beside a server: it makes the pack of a run and turns articles into vectors, so
// that the server itself never loads libtorch.
//
// Its stdin and stdout are one socket, with frames in both directions:
//
//   length   4 bytes, of what follows; at most most_frame_bytes
//   kind     1 byte
//   body     ready: the version of the pack that was made, nothing if none was asked for
//            articles: their number, and of each title, abstract, category and subcategory, each with its
//            length vectors: their number and width, then the numbers bad_input, failed: what went wrong
//
// Lengths, numbers and widths are 32 bits wide; all little-endian (base/byte_codec.h). The trainer says ready
// (or what went wrong) once, then answers articles with vectors until the socket is closed. It keeps nothing
// else of the server open, is in a process group of its own, so that Ctrl-C ends the server first, and has
// nothing that could be lost: it is ended by a kill.

#include <mutex>
#include <string>
#include <vector>

#include "base/files.h"
#include "serving/pool/serving_model.h"
#include "serving/served_run_settings.h"

namespace sotto::cli {

enum class FrameKind : char { ready = 'r', articles = 'a', vectors = 'v', bad_input = 'b', failed = 'f' };
struct Frame {
  FrameKind kind = FrameKind::failed;
  std::string body;
};
constexpr std::size_t most_frame_bytes = std::size_t{64} << 20;
constexpr std::size_t most_articles = 1024;  // in a frame

Status send_frame(int socket, const Frame& frame);
// An error at the end of the stream too.
Result<Frame> receive_frame(int socket);
Frame error_frame(const Error& error);

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
  ~EncoderProcess() override { end(); }
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
  Result<std::string> start(const std::vector<std::string>& more_arguments) const;
  Result<std::vector<std::vector<float>>> encode_batch(std::span<const serving::CatalogueItem> items) const;
  void end() const;

  const fs::path run_, data_;
  fs::file_time_type trained_;
  mutable std::mutex mutex_;
  mutable int socket_ = -1;  // -1: no trainer runs
  mutable int process_ = -1;
};

}  // namespace sotto::cli
