#pragma once
// The figure and the HTML report of the serving table.

#include <string>
#include <utility>
#include <vector>

#include "eval/experiments/serving/serving_row.h"
#include "eval/plot.h"

namespace sotto::private_serving {

struct ServingFacts {
  std::string data, run;
  std::size_t items = 0, queries = 0, pool_queries = 0, readers = 0, answer = 0;
  std::int64_t seeds = 1;
  double demand_epsilon = 0;
  bool quick = false;
};

// Share of the gain kept (a measure ending in _share) against the true ε; of every family the best size.
Plot share_plot(const std::vector<ServingRow>& rows, const std::string& measure, const std::string& title);

std::string serving_report(const std::vector<ServingRow>& rows, const ServingFacts& facts);

}  // namespace sotto::private_serving
