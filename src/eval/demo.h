#pragma once
// 'sotto demo': a generated newsroom, the central and the federated system side by side, one table, one
// report.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "metrics/ranking.h"

namespace sotto {

struct DemoSettings {
  fs::path out = "sotto-demo";
  std::uint64_t seed = 1;
};

struct DemoRow {
  std::string system;
  ImpressionMetrics metrics;
  double share = 0;             // of the way from popularity to the best possible AUC
  double bytes_per_client = 0;  // both directions, per round
  double seconds = 0;
};

struct DemoResult {
  std::vector<DemoRow> rows;
  fs::path report;
  double seconds = 0;
};

// Replaces the folder of an earlier demo; refuses any other non-empty folder.
Result<DemoResult> run_demo(const DemoSettings& settings);

std::string to_text(const DemoResult& result);

}  // namespace sotto
