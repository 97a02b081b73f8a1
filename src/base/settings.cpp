#include "base/settings.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/setting_value.h"

namespace sotto {

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

// A bad record is a mistake in the program, not in its use.
SettingsTable& SettingsTable::add_record(Record record) {
  const auto is_key_character = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
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

}  // namespace sotto
