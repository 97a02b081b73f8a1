#pragma once
// RUN/log.jsonl and the checkpoints, in one order: last.sotto first, then the lines of the rounds it has. A
// checkpoint carries those lines, so a run that was killed between the two writes them when it is resumed. So
// nothing of a round is in the folder before the checkpoint that goes on from it, and what was lost with the
// process is drawn anew without anybody having seen it: with secret noise no round is released twice.

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "metrics/ranking.h"
#include "model/tensor.h"

namespace sotto::fl {

struct RoundRecord {
  std::uint32_t round = 0;  // from 1: rounds done
  double loss = 0, seconds = 0;
  std::uint64_t clients = 0, samples = 0, bytes_down = 0, bytes_up = 0;
  std::optional<metrics::ImpressionMetrics> validation;
};

std::string to_json_line(const RoundRecord& record);

class RunLog {
 public:
  // Starts an empty log, or brings an existing one to the checkpoint that is resumed from: the `rounds_done`
  // rounds, among them those of `unwritten` that it lacks. Refuses a log with rounds that the checkpoint has
  // not: an older one was put back, and they would be drawn twice.
  static Result<RunLog> open(const fs::path& path, std::uint32_t rounds_done,
                             const std::vector<RoundRecord>& unwritten);
  Status append(const std::vector<RoundRecord>& records);
  const std::vector<RoundRecord>& records() const { return records_; }

 private:
  RunLog(fs::path path, std::vector<RoundRecord> records)
      : path_(std::move(path)), records_(std::move(records)) {}
  fs::path path_;
  std::vector<RoundRecord> records_;
};

// Damaged or unfinished lines end the log.
std::vector<RoundRecord> read_run_log(const fs::path& path);

// Everything a run needs to go on: parameters, state of optimiser and source, how far it is. Randomness is
// addressed by (seed, round) or secret, so no generator state is stored.
struct Checkpoint {
  std::uint32_t rounds_done = 0;
  std::uint32_t best_round = 0;
  double best_score = -1;
  double seconds = 0;  // of training so far
  std::int64_t threads = 0;
  std::string layout;  // FlatParameters::layout of the model
  torch::Tensor parameters;
  std::vector<torch::Tensor> optimiser;
  std::vector<RoundRecord> unwritten;  // rounds whose lines follow this checkpoint into the log
};

Status save_checkpoint(const fs::path& path, const Checkpoint& checkpoint);
// Refuses a file whose layout is not `layout`.
Result<Checkpoint> load_checkpoint(const fs::path& path, const std::string& layout);

// What follows a checkpoint into the folder, and never comes before it.
bool has_released_rounds(const fs::path& run);
// Refuses a folder with rounds that were released, in a log or as a published model, and without the
// checkpoint that goes on from them: drawn again, they would be released twice. Of a log that is ahead of its
// checkpoint RunLog::open() says the same.
Status check_nothing_is_released_twice(const fs::path& run);

}  // namespace sotto::fl
