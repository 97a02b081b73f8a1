#include "eval/experiments/finished_rows.h"

#include <nlohmann/json.hpp>
#include <sstream>

namespace sotto::eval {

using nlohmann::json;

namespace {
constexpr std::uint64_t largest_file = std::uint64_t{64} << 20;
}  // namespace

Result<FinishedRows> FinishedRows::open(const fs::path& path, const json& fingerprint) {
  const std::string header = json{{"made_with", fingerprint}}.dump();
  FinishedRows finished(path, header + "\n");
  if (!fs::exists(path)) return finished;
  SOTTO_TRY(const auto text, read_file(path, largest_file));
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != header) return finished;
  while (std::getline(lines, line)) {
    const json parsed = json::parse(line, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("key") || !parsed["key"].is_string() ||
        !parsed.contains("row") || !parsed["row"].is_object())
      break;  // the last line of a killed run
    finished.rows_[parsed["key"].get<std::string>()] = parsed["row"].dump();
    finished.text_ += line + "\n";
  }
  return finished;
}

std::optional<json> FinishedRows::find(std::string_view key) const {
  const auto row = rows_.find(key);
  if (row == rows_.end()) return std::nullopt;
  return json::parse(row->second);
}

Status FinishedRows::add(const std::string& key, const json& row) {
  text_ += json{{"key", key}, {"row", row}}.dump() + "\n";
  rows_[key] = row.dump();
  return write_file_atomically(path_, text_);
}

}  // namespace sotto::eval
