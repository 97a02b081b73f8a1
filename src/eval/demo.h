#pragma once
// 'sotto demo': a generated newsroom; a central, a federated and a differentially private system side by
// side; one table, one report.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "metrics/ranking.h"

namespace sotto::eval {

struct DemoSettings {
  fs::path out = "sotto-demo";
  std::uint64_t seed = 1;
  std::int64_t readers = 10000, news = 2500;
  double length = 1;  // share of the rounds that are trained, at least two each
};

struct DemoRow {
  std::string system;
  metrics::ImpressionMetrics metrics;
  double share = 0;             // of the way from popularity to the best possible AUC
  double bytes_per_client = 0;  // both directions, per round
  double seconds = 0;
  std::string epsilon = "-";  // of the whole training, against the server
};

struct DemoResult {
  std::vector<DemoRow> rows;
  fs::path report;
  double seconds = 0;
};

// Replaces the folder of an earlier demo; refuses any other non-empty folder.
Result<DemoResult> run_demo(const DemoSettings& settings);

std::string to_text(const DemoResult& result);

}  // namespace sotto::eval
