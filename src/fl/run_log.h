#pragma once
// RUN/log.jsonl: one JSON object per round, appended as the run goes. After a crash a resumed run drops the
// lines behind its checkpoint, so the log always tells one consistent story.

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "metrics/ranking.h"

namespace sotto {

struct RoundRecord {
  std::uint32_t round = 0;  // from 1: rounds done
  double loss = 0, seconds = 0;
  std::uint64_t clients = 0, samples = 0, bytes_down = 0, bytes_up = 0;
  std::optional<ImpressionMetrics> validation;
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

}  // namespace sotto
