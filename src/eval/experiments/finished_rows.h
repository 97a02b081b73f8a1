#pragma once
// The file in which finished rows wait for an interrupted experiment to go on.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace sotto::eval {

// Finished rows in OUT/rows.jsonl, one JSON object per line under the key it was added with. Rows that were
// made under another fingerprint are thrown away when the file is opened, and so is everything behind a
// damaged line. Several processes may add to one file; each sees what the others added when it adds itself.
// Not thread-safe.
class FinishedRows {
 public:
  static Result<FinishedRows> open(const fs::path& path, const nlohmann::json& fingerprint);
  std::optional<nlohmann::json> find(std::string_view key) const;
  std::vector<std::string> keys() const;
  Status add(const std::string& key, const nlohmann::json& row);

 private:
  FinishedRows(fs::path path, std::string header) : path_(std::move(path)), header_(std::move(header)) {}
  Status read();
  fs::path path_;
  std::string header_, text_;
  std::map<std::string, std::string, std::less<>> rows_;  // as JSON text
};

}  // namespace sotto::eval
