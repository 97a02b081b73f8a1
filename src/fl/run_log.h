#pragma once
// RUN/log.jsonl: one JSON object per round, appended as the run goes. After a crash a resumed run drops the
// lines behind its checkpoint, so the log always tells one consistent story.

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
  // Starts an empty log, or keeps the first `rounds_done` rounds of an existing one.
  static Result<RunLog> open(const fs::path& path, std::uint32_t rounds_done);
  Status append(const RoundRecord& record);
  const std::vector<RoundRecord>& records() const { return records_; }

 private:
  RunLog(fs::path path, std::vector<RoundRecord> records)
      : path_(std::move(path)), records_(std::move(records)) {}
  fs::path path_;
  std::vector<RoundRecord> records_;
};

// Damaged or unfinished lines end the log.
std::vector<RoundRecord> read_run_log(const fs::path& path);

// Everything a run needs to go on bit for bit: parameters, optimiser state, how far it is. All randomness is
// addressed by (seed, round), so no generator state is stored.
struct Checkpoint {
  std::uint32_t rounds_done = 0;
  std::uint32_t best_round = 0;
  double best_score = -1;
  double seconds = 0;  // of training so far
  std::int64_t threads = 0;
  std::string layout;  // FlatParameters::layout of the model
  torch::Tensor parameters;
  std::vector<torch::Tensor> optimiser;
};

Status save_checkpoint(const fs::path& path, const Checkpoint& checkpoint);
// Refuses a file whose layout is not `layout`.
Result<Checkpoint> load_checkpoint(const fs::path& path, const std::string& layout);

}  // namespace sotto::fl
