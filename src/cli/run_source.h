#pragma once
// A run folder as the source of what a server serves. The pack made from it by the trainer lies in a file of
// its own, which the server takes over whenever it is replaced. Beside it a description says what it was made
// of, so that a server that starts again with the same run starts no trainer before an article comes.
//
// One owner; encoder_for() may be called by the server while refresh() does not run.

#include <functional>

#include "cli/encoder_process.h"
#include "cli/pool_items.h"
#include "device/pack/device_pack.h"
#include "serving/pool/live_pool.h"

namespace sotto::cli {

class RunSource {
 public:
  // Asked before anything is made of a run: may a model of that data be served?
  using Accept = std::function<Status(const ServedData& data)>;

  // data: empty: where the run was trained. Makes the first pack, unless it is there.
  static Result<RunSource> open(const fs::path& run, const fs::path& data, const fs::path& pack_file,
                                const serving::ServedRunSettings& settings, Accept accept);

  // Makes the pack again when the run has been trained on, or another took its place. False: nothing new. An
  // error leaves the file as it is.
  Result<bool> refresh();

  // The encoder of the pack made last.
  Result<std::shared_ptr<const serving::ItemEncoder>> encoder_for(const device::DevicePack& pack) const;

  // Puts the articles of the run's data into the pool. now: for articles whose time nobody knows.
  Status fill(serving::LivePool& pool, std::int64_t now) const;

 private:
  RunSource(fs::path run, fs::path data, fs::path pack_file, const serving::ServedRunSettings& settings,
            Accept accept)
      : run_(std::move(run)),
        data_(std::move(data)),
        pack_file_(std::move(pack_file)),
        settings_(settings),
        accept_(std::move(accept)) {}
  Result<ServedData> trained_on() const;
  std::string description() const;
  std::optional<std::string> stored_version(const fs::path& about) const;

  fs::path run_, data_, pack_file_;
  serving::ServedRunSettings settings_;
  Accept accept_;
  fs::file_time_type trained_{};
  std::string version_;
  std::shared_ptr<EncoderProcess> encoder_;
};

}  // namespace sotto::cli
