#pragma once
// One line of the serving table, and the file in which finished lines wait for an interrupted experiment to
// go on.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/files.h"
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

// Finished rows in OUT/rows.jsonl, appended one by one. Rows that were made under another fingerprint are
// thrown away when the file is opened. Not thread-safe.
class FinishedRows {
 public:
  static Result<FinishedRows> open(const fs::path& path, const std::string& fingerprint);
  const ServingRow* find(const MechanismChoice& choice) const;
  Status add(ServingRow row);

 private:
  FinishedRows(fs::path path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}
  fs::path path_;
  std::string text_;
  std::vector<ServingRow> rows_;
};

}  // namespace sotto::private_serving
