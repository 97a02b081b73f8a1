#include "base/settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/setting_value.h"

namespace sotto {

namespace {

// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    const std::size_t shorter = std::min(word.size(), candidate.size());
    const std::size_t allowed = std::max<std::size_t>(1, (longer + 1) / 3);
    if (shorter == 0 || longer - shorter > allowed) continue;  // far away, and never slow on a huge word
    const std::size_t distance = edit_distance(word, candidate);
    if (distance <= allowed && (best == nullptr || distance < best_distance)) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

SettingsTable::SettingsTable() = default;
SettingsTable::~SettingsTable() = default;
SettingsTable::SettingsTable(SettingsTable&&) noexcept = default;
SettingsTable& SettingsTable::operator=(SettingsTable&&) noexcept = default;

SettingsTable& SettingsTable::add(std::string name, std::int64_t& target, Range<std::int64_t> range,
                                  std::string help) {
  return add_record({std::move(name), std::move(help), range, &target, target});
}

SettingsTable& SettingsTable::add(std::string name, double& target, Range<double> range, std::string help) {
  return add_record({std::move(name), std::move(help), range, &target, target});
}

SettingsTable& SettingsTable::add(std::string name, bool& target, std::string help) {
  return add_record({std::move(name), std::move(help), AnyBool{}, &target, target});
}

SettingsTable& SettingsTable::add(std::string name, std::string& target, std::string help) {
  return add_record({std::move(name), std::move(help), AnyText{}, &target, target});
}

SettingsTable& SettingsTable::add_choice(std::string name, std::string& target,
                                         std::vector<std::string> choices, std::string help) {
  return add_record({std::move(name), std::move(help), OneOf{std::move(choices)}, &target, target});
}

// A bad record is a mistake in the program, not in its use. Names are spelt one way: flags turn their
// underscores into dashes.
SettingsTable& SettingsTable::add_record(Record record) {
  const auto is_key_character = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  const std::string& name = record.name;
  if (name.empty() || name.front() == '.' || name.back() == '.' || name.find("..") != std::string::npos ||
      !std::all_of(name.begin(), name.end(), is_key_character)) {
    throw std::logic_error(fmt::format("'{}' is not a name for a setting", name));
  }
  for (const Record& other : records_) {
    if (name == other.name || name.starts_with(other.name + ".") || other.name.starts_with(name + ".")) {
      throw std::logic_error(fmt::format("settings '{}' and '{}' cannot both exist", other.name, name));
    }
  }
  if (!accept(record.rule, record.default_value)) {
    throw std::logic_error(fmt::format("the default of setting '{}' {}", name, requirement(record.rule)));
  }
  records_.push_back(std::move(record));
  return *this;
}

const SettingsTable::Record* SettingsTable::find(std::string_view name) const {
  const auto found = std::find_if(records_.begin(), records_.end(),
                                  [&](const Record& record) { return record.name == name; });
  return found == records_.end() ? nullptr : &*found;
}

Error SettingsTable::unknown(std::string_view name) const {
  std::vector<std::string> names;
  names.reserve(records_.size());
  for (const Record& record : records_) names.push_back(record.name);
  const auto near = nearest(name, names);
  return {ErrorKind::bad_input,
          near ? fmt::format("unknown setting '{}'; did you mean '{}'?", name, *near)
               : fmt::format("unknown setting '{}'; the settings are {}", name, fmt::join(names, ", "))};
}

Error SettingsTable::refused(const Record& record, std::string_view value) {
  const auto* choice = std::get_if<OneOf>(&record.rule);
  const auto near = choice != nullptr ? nearest(value, choice->words) : std::nullopt;
  return {ErrorKind::bad_input,
          fmt::format("setting '{}' {}, not '{}'{}", record.name, requirement(record.rule), value,
                      near ? fmt::format("; did you mean '{}'?", *near) : "")};
}

Status SettingsTable::set(std::string_view name, std::string_view value) {
  const Record* record = find(name);
  if (record == nullptr) return tl::unexpected(unknown(name));
  const auto parsed = parse(record->rule, value);
  if (!parsed) return tl::unexpected(refused(*record, value));
  record->assign(*parsed);
  return {};
}

Status SettingsTable::set_assignment(std::string_view key_equals_value) {
  const auto equals = key_equals_value.find('=');
  if (equals == std::string_view::npos) {
    return bad_input("'{}' is not a setting; write key=value", key_equals_value);
  }
  return set(key_equals_value.substr(0, equals), key_equals_value.substr(equals + 1));
}

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
