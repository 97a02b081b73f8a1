#pragma once
// What one setting may hold and how its value is written.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/settings.h"

namespace sotto {

using SettingValue = std::variant<std::int64_t, double, bool, std::string>;

struct AnyBool {};
struct AnyText {};
struct OneOf {
  std::vector<std::string> words;
};
using SettingRule = std::variant<Range<std::int64_t>, Range<double>, AnyBool, AnyText, OneOf>;

std::string type_name(const SettingRule& rule);  // "integer", "number", "bool", "text", "choice"
std::string allowed(const SettingRule& rule);  // "1 to 1000000", "true or false", "paper, sound", "" for any

// "must be a whole number from 1 to 1000000"
std::string requirement(const SettingRule& rule);

// The value in the type of the rule, or nothing when the rule forbids it: another type, out of range, not
// finite, not UTF-8. A whole number is accepted for a real one.
std::optional<SettingValue> accept(const SettingRule& rule, SettingValue value);
// The same for text from the command line. Strict: no spaces, no rest, no hexadecimal.
std::optional<SettingValue> parse(const SettingRule& rule, std::string_view text);

std::string to_text(const SettingValue& value);          // parse() reads it back
std::string to_toml_literal(const SettingValue& value);  // TOML reads it back with the same type

struct SettingsTable::Record {
  std::string name, help;
  SettingRule rule;
  std::variant<std::int64_t*, double*, bool*, std::string*> target;
  SettingValue default_value;

  SettingValue value() const;
  void assign(const SettingValue& accepted) const;
};

}  // namespace sotto
