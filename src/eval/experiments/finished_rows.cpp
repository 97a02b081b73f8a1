#include "eval/experiments/finished_rows.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "eval/experiments/grid/side_by_side.h"

namespace sotto::eval {

using nlohmann::json;

namespace {
constexpr std::uint64_t largest_file = std::uint64_t{64} << 20;
}  // namespace

Result<FinishedRows> FinishedRows::open(const fs::path& path, const json& fingerprint) {
  FinishedRows finished(path, json{{"made_with", fingerprint}}.dump());
  SOTTO_CHECK(finished.read());
  return finished;
}

Status FinishedRows::read() {
  text_ = header_ + "\n";
  if (!fs::exists(path_)) return {};
  SOTTO_TRY(const auto text, read_file(path_, largest_file));
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != header_) return {};
  while (std::getline(lines, line)) {
    const json parsed = json::parse(line, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("key") || !parsed["key"].is_string() ||
        !parsed.contains("row") || !parsed["row"].is_object())
      break;  // the last line of a killed run
    rows_[parsed["key"].get<std::string>()] = parsed["row"].dump();
    text_ += line + "\n";
  }
  return {};
}

std::optional<json> FinishedRows::find(std::string_view key) const {
  const auto row = rows_.find(key);
  if (row == rows_.end()) return std::nullopt;
  return json::parse(row->second);
}

std::vector<std::string> FinishedRows::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, row] : rows_) keys.push_back(key);
  return keys;
}

Status FinishedRows::add(const std::string& key, const json& row) {
  SOTTO_TRY(const Claim alone, Claim::wait(path_));
  SOTTO_CHECK(read());
  text_ += json{{"key", key}, {"row", row}}.dump() + "\n";
  rows_[key] = row.dump();
  return write_file_atomically(path_, text_);
}

}  // namespace sotto::eval
