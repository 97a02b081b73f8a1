#include <nlohmann/json.hpp>

#include "base/setting_value.h"
#include "base/settings.h"

namespace sotto {

namespace {

std::string escape_pipes(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

}  // namespace

std::vector<SettingsTable::Row> SettingsTable::rows() const {
  std::vector<Row> rows;
  rows.reserve(records_.size());
  for (const Record& record : records_) {
    rows.push_back({record.name, type_name(record.rule), to_text(record.default_value),
                    to_text(record.value()), allowed(record.rule), record.help});
  }
  return rows;
}

std::string SettingsTable::to_markdown() const {
  std::string out = "| setting | type | default | allowed | meaning |\n|---|---|---|---|---|\n";
  for (const Row& row : rows()) {
    const std::string default_value = row.default_value.empty() ? "" : fmt::format("`{}`", row.default_value);
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.name, row.type, escape_pipes(default_value),
                       escape_pipes(row.allowed), escape_pipes(row.help));
  }
  return out;
}

nlohmann::json SettingsTable::to_json() const {
  nlohmann::json out = nlohmann::json::object();
  for (const Record& record : records_) {
    std::visit([&](const auto& value) { out[record.name] = value; }, record.value());
  }
  return out;
}

}  // namespace sotto
