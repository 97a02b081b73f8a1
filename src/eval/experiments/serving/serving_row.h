#pragma once
// One line of the serving table.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/experiments/serving/reader_estimates.h"
#include "eval/experiments/serving/serving_mechanism.h"

namespace sotto::private_serving {

struct ServingRow {
  MechanismChoice choice;
  AnswerPrivacy privacy;
  std::map<std::string, Estimate> measures;  // by the names of measure_names()
};

// auc, ndcg10, hits10: over impressions. pool_...: over the whole pool, in the server's order; reranked_...:
// ranked again on the device. ..._share: of the personalisation gain.
const std::vector<std::string>& measure_names();

nlohmann::json to_json(const ServingRow& row);
std::string to_csv(const std::vector<ServingRow>& rows, bool quick);
std::string to_text(const std::vector<ServingRow>& rows, bool quick);
// "10", "0.5", "∞"
std::string epsilon_text(double epsilon);

// The name of a row among finished ones, and a row read back; an error when it was not written by to_json().
std::string key_of(const MechanismChoice& choice);
Result<ServingRow> row_of(const nlohmann::json& line);

}  // namespace sotto::private_serving
