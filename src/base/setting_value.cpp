#include "base/setting_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/utf8.h"

namespace sotto {

namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// Shortest digits that read back as the same number, with a mark that it is a real one.
std::string real_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

// "1 to 10", "at least 1", "at most 10" or nothing; an end of the type itself is no limit.
template <class T>
std::string range_text(const Range<T>& range) {
  using Limits = std::numeric_limits<T>;
  const bool low = range.low > Limits::lowest(), high = range.high < Limits::max();
  if (low && high) return fmt::format("{} to {}", range.low, range.high);
  if (low) return fmt::format("at least {}", range.low);
  if (high) return fmt::format("at most {}", range.high);
  return "";
}

template <class T>
std::string number_requirement(std::string_view noun, const Range<T>& range) {
  const std::string limits = range_text(range);
  if (limits.empty()) return fmt::format("must be {}", noun);
  return fmt::format("must be {} {}{}", noun, limits.starts_with("at") ? "of " : "from ", limits);
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

std::string type_name(const SettingRule& rule) {
  return std::visit(Overloaded{[](const Range<std::int64_t>&) { return "integer"; },
                               [](const Range<double>&) { return "number"; }, [](AnyBool) { return "bool"; },
                               [](AnyText) { return "text"; }, [](const OneOf&) { return "choice"; }},
                    rule);
}

std::string allowed(const SettingRule& rule) {
  return std::visit(
      Overloaded{[](const Range<std::int64_t>& range) { return range_text(range); },
                 [](const Range<double>& range) { return range_text(range); },
                 [](AnyBool) { return std::string("true or false"); }, [](AnyText) { return std::string(); },
                 [](const OneOf& choice) { return fmt::format("{}", fmt::join(choice.words, ", ")); }},
      rule);
}

std::string requirement(const SettingRule& rule) {
  return std::visit(
      Overloaded{[](const Range<std::int64_t>& range) { return number_requirement("a whole number", range); },
                 [](const Range<double>& range) { return number_requirement("a number", range); },
                 [](AnyBool) { return std::string("must be true or false"); },
                 [](AnyText) { return std::string("must be text in UTF-8"); },
                 [](const OneOf& choice) {
                   return fmt::format("must be one of {}", fmt::join(choice.words, ", "));
                 }},
      rule);
}

std::optional<SettingValue> accept(const SettingRule& rule, SettingValue value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value);
      whole && std::holds_alternative<Range<double>>(rule)) {
    value = static_cast<double>(*whole);
  }
  const bool fine = std::visit(
      Overloaded{
          [](const Range<std::int64_t>& range, std::int64_t x) { return x >= range.low && x <= range.high; },
          [](const Range<double>& range, double x) {
            return std::isfinite(x) && x >= range.low && x <= range.high;
          },
          [](AnyBool, bool) { return true; },
          [](AnyText, const std::string& text) { return is_utf8(text); },
          [](const OneOf& choice, const std::string& word) {
            return std::find(choice.words.begin(), choice.words.end(), word) != choice.words.end();
          },
          [](const auto&, const auto&) { return false; },
      },
      rule, value);
  if (!fine) return std::nullopt;
  return value;
}

std::optional<SettingValue> parse(const SettingRule& rule, std::string_view text) {
  if (std::holds_alternative<Range<std::int64_t>>(rule)) {
    const auto whole = parse_number<std::int64_t>(text);
    return whole ? accept(rule, *whole) : std::nullopt;
  }
  if (std::holds_alternative<Range<double>>(rule)) {
    const auto real = parse_number<double>(text);
    return real ? accept(rule, *real) : std::nullopt;
  }
  if (std::holds_alternative<AnyBool>(rule)) {
    if (text != "true" && text != "false") return std::nullopt;
    return text == "true";
  }
  return accept(rule, std::string(text));
}

std::string to_text(const SettingValue& value) {
  return std::visit(Overloaded{[](std::int64_t whole) { return fmt::format("{}", whole); },
                               [](double real) { return real_text(real); },
                               [](bool yes) { return std::string(yes ? "true" : "false"); },
                               [](const std::string& text) { return text; }},
                    value);
}

std::string to_toml_literal(const SettingValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return toml_string(*text);
  return to_text(value);
}

SettingValue SettingsTable::Record::value() const {
  return std::visit([](const auto* place) { return SettingValue(*place); }, target);
}

void SettingsTable::Record::assign(const SettingValue& accepted) const {
  std::visit([&](auto* place) { *place = std::get<std::remove_pointer_t<decltype(place)>>(accepted); },
             target);
}

}  // namespace sotto
