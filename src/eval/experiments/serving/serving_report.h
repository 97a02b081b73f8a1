#pragma once
// Rows of the serving table as JSON (one by one, and read back), CSV, text, figure and HTML report.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "eval/experiments/serving/serving_table.h"
#include "eval/plot.h"

namespace sotto::private_serving {

nlohmann::json to_json(const ServingRow& row);
std::string to_csv(const std::vector<ServingRow>& rows, bool quick);
std::string to_text(const std::vector<ServingRow>& rows, bool quick);
// "10", "0.5", "∞"
std::string epsilon_text(double epsilon);

// The name of a row among finished ones, and a row read back; an error when it was not written by to_json().
std::string key_of(const MechanismChoice& choice);
Result<ServingRow> row_of(const nlohmann::json& line);

struct ServingFacts {
  std::string data, run;
  std::size_t items = 0, queries = 0, pool_queries = 0, readers = 0, answer = 0;
  std::int64_t seeds = 1;
  double demand_epsilon = 0;
  bool quick = false;
};

// Share of the gain kept (a measure ending in _share) against the true ε; of every mechanism the best size.
Plot share_plot(const std::vector<ServingRow>& rows, const std::string& measure, const std::string& title);

std::string serving_report(const std::vector<ServingRow>& rows, const ServingFacts& facts);

}  // namespace sotto::private_serving
