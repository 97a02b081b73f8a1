#pragma once
// What servers that recommend say of themselves at /metrics, for the operator's page: how many ask them, how
// long answers take, what they hold and what they refuse. Counts and times, nothing about a reader.
//
// Pure functions: the text of a server in, figures out.

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sotto::coordinator {

// One look at a server. Counts are since its start.
struct ServingSample {
  std::chrono::steady_clock::time_point time{};
  double queries = 0;                      // for recommendations, of any kind
  std::map<double, double> faster;         // by seconds: of these queries, those that took at most so long
  std::map<std::string, double> refusals;  // by HTTP status; "connections": refused by a limit
  double items = 0, stored = 0, removed = 0;
  double changes_lost = 0;  // that the disk did not take
};

// Refuses a text that is not what such a server says.
Result<ServingSample> read_serving_metrics(std::string_view text, std::chrono::steady_clock::time_point now);

// Of the time between two looks at one server, `before` the earlier one. A server that was started again
// meanwhile has counted from its start.
nlohmann::json figures_between(const ServingSample& before, const ServingSample& now);

}  // namespace sotto::coordinator
