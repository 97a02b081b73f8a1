#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "base/setting_value.h"
#include "base/settings.h"
#include "base/toml_text.h"

namespace sotto {

namespace {

// No configuration is longer; a wrong file given by mistake may be.
constexpr std::uint64_t largest_file = std::uint64_t{1} << 20;

struct Entry {
  std::string name;
  const toml::node* node;
};

// [train] rounds = 3 becomes "train.rounds".
void flatten(const toml::table& table, const std::string& prefix, std::vector<Entry>& out) {
  for (const auto& [key, node] : table) {
    std::string name = prefix + std::string(key.str());
    if (const auto* inner = node.as_table()) {
      flatten(*inner, name + ".", out);
    } else {
      out.push_back({std::move(name), &node});
    }
  }
}

// Arrays, dates and times are never settings.
std::optional<SettingValue> scalar(const toml::node& node) {
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* yes = node.as_boolean()) return yes->get();
  if (const auto* text = node.as_string()) return text->get();
  return std::nullopt;
}

Result<toml::table> parse_toml(const fs::path& path) {
  SOTTO_TRY(const std::string content, read_file(path, largest_file));
  SOTTO_CHECK(check_toml_text(content, path.string()));
  toml::parse_result parsed = toml::parse(std::string_view(content));
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return bad_input("{}:{}: {}", path.string(), error.source().begin.line, error.description());
  }
  return std::move(parsed).table();
}

}  // namespace

Result<std::optional<std::string>> toml_string(const fs::path& path, std::string_view key) {
  SOTTO_TRY(const toml::table parsed, parse_toml(path));
  return parsed[key].value<std::string>();
}

Status SettingsTable::load_toml(const fs::path& path) {
  SOTTO_TRY(const toml::table parsed, parse_toml(path));
  std::vector<Entry> entries;
  flatten(parsed, "", entries);
  std::vector<std::pair<const Record*, SettingValue>> accepted;
  for (const Entry& entry : entries) {
    const std::string where = fmt::format("{}:{}", path.string(), entry.node->source().begin.line);
    const Record* record = find(entry.name);
    if (record == nullptr) return tl::unexpected(unknown(entry.name).in(where));
    const auto given = scalar(*entry.node);
    if (!given) {
      return bad_input("{}: setting '{}' {}, not an array, a date or a time", where, record->name,
                       requirement(record->rule));
    }
    auto value = accept(record->rule, *given);
    if (!value) return tl::unexpected(refused(*record, to_text(*given)).in(where));
    accepted.emplace_back(record, std::move(*value));
  }
  for (const auto& [record, value] : accepted) record->assign(value);
  return {};
}

// Dotted keys rather than [tables]: the order of the settings stays, and a line can be copied alone.
std::string SettingsTable::to_toml() const {
  std::string out;
  for (const Record& record : records_) {
    out += fmt::format("{} = {}\n", record.name, to_toml_literal(record.value()));
  }
  return out;
}

std::string SettingsTable::to_sample_toml() const {
  std::string out;
  for (const Record& record : records_) {
    const std::string limits = allowed(record.rule);
    out +=
        fmt::format("# {} ({}{}{})\n{} = {}\n\n", record.help, type_name(record.rule),
                    limits.empty() ? "" : ": ", limits, record.name, to_toml_literal(record.default_value));
  }
  return out;
}

}  // namespace sotto
