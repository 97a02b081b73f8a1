#include "data/importers/field_values.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/utf8.h"

namespace sotto::data {

void append_latin1_as_utf8(std::string_view latin1, std::string& out) {
  out.reserve(out.size() + latin1.size());
  for (const char character : latin1) append_utf8(static_cast<unsigned char>(character), out);
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.substr(0, mark.size()) == mark) text.remove_prefix(mark.size());
  return text;
}

namespace {

constexpr std::int64_t first_second = -62'135'596'800;  // 0001-01-01
constexpr std::int64_t last_second = 253'402'300'799;   // 9999-12-31T23:59:59

// Takes exactly `least` to `most` digits off the front of `text`.
std::optional<int> take_digits(std::string_view& text, std::size_t least, std::size_t most) {
  int value = 0;
  std::size_t digits = 0;
  while (digits < most && digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    value = value * 10 + (text[digits] - '0');
    ++digits;
  }
  if (digits < least) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, std::string_view expected) {
  if (text.substr(0, expected.size()) != expected) return false;
  text.remove_prefix(expected.size());
  return true;
}

std::optional<std::int64_t> seconds_of_date(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (year < 1 || !date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count() * seconds_per_day;
}

std::optional<std::int64_t> seconds_of_clock(int hour, int minute, int second) {
  if (hour > 23 || minute > 59 || second > 60) return std::nullopt;  // 60: leap seconds exist
  return hour * 3600 + minute * 60 + second;
}

std::optional<std::int64_t> take_clock(std::string_view& text) {
  const auto hour = take_digits(text, 1, 2);
  if (!hour || !take(text, ":")) return std::nullopt;
  const auto minute = take_digits(text, 2, 2);
  if (!minute) return std::nullopt;
  int second = 0;
  if (take(text, ":")) {
    const auto digits = take_digits(text, 2, 2);
    if (!digits) return std::nullopt;
    second = *digits;
    if (take(text, ".") && !take_digits(text, 1, 9)) return std::nullopt;
  }
  return seconds_of_clock(*hour, *minute, second);
}

// "", "Z", "+01:00", "-0530": seconds to subtract.
std::optional<std::int64_t> parse_zone(std::string_view text) {
  if (text.empty() || text == "Z") return 0;
  const bool east = take(text, "+");
  if (!east && !take(text, "-")) return std::nullopt;
  const auto hours = take_digits(text, 2, 2);
  take(text, ":");
  const auto minutes = take_digits(text, 2, 2);
  if (!hours || !minutes || *hours > 14 || *minutes > 59 || !text.empty()) return std::nullopt;
  const std::int64_t seconds = *hours * 3600 + *minutes * 60;
  return east ? seconds : -seconds;
}

std::optional<std::int64_t> parse_iso(std::string_view text) {
  const auto year = take_digits(text, 4, 4);
  if (!year || !take(text, "-")) return std::nullopt;
  const auto month = take_digits(text, 2, 2);
  if (!month || !take(text, "-")) return std::nullopt;
  const auto day = take_digits(text, 2, 2);
  if (!day) return std::nullopt;
  const auto date = seconds_of_date(*year, *month, *day);
  if (!date || text.empty()) return date;
  if (!take(text, "T") && !take(text, " ")) return std::nullopt;
  const auto clock = take_clock(text);
  const auto zone = parse_zone(text);
  if (!clock || !zone) return std::nullopt;
  return *date + *clock - *zone;
}

std::optional<std::int64_t> parse_american(std::string_view text) {
  const auto month = take_digits(text, 1, 2);
  if (!month || !take(text, "/")) return std::nullopt;
  const auto day = take_digits(text, 1, 2);
  if (!day || !take(text, "/")) return std::nullopt;
  const auto year = take_digits(text, 4, 4);
  if (!year || !take(text, " ")) return std::nullopt;
  auto clock = take_clock(text);
  const auto date = seconds_of_date(*year, *month, *day);
  if (!clock || !date) return std::nullopt;
  const bool afternoon = text == " PM";
  const std::int64_t hour = *clock / 3600;
  if ((!afternoon && text != " AM") || hour < 1 || hour > 12) return std::nullopt;
  return *date + *clock - hour * 3600 + (hour % 12 + (afternoon ? 12 : 0)) * 3600;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<float> parse_number(std::string_view text) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

namespace {

struct NamedTimeFormat {
  TimeFormat format;
  std::string_view name, meaning;
};
constexpr std::array<NamedTimeFormat, 4> time_formats = {{
    {TimeFormat::unix_seconds, "unix", "seconds since 1970"},
    {TimeFormat::unix_milliseconds, "unix-ms", "milliseconds since 1970"},
    {TimeFormat::iso, "iso", "2019-11-14T14:14:46"},
    {TimeFormat::american, "american", "11/14/2019 2:14:46 PM"},
}};

}  // namespace

std::optional<TimeFormat> time_format_named(std::string_view name) {
  for (const NamedTimeFormat& known : time_formats)
    if (known.name == name) return known.format;
  return std::nullopt;
}

std::string time_problem(std::string_view text, TimeFormat format) {
  std::string problem = fmt::format("the time '{}' is not", printable(text, 40));
  for (const NamedTimeFormat& known : time_formats)
    if (known.format == format)
      problem += fmt::format(" in the format {} ({}{})", known.name, known.meaning,
                             format == TimeFormat{} ? ", the default" : "");
  for (const NamedTimeFormat& known : time_formats)
    if (known.format != format && parse_time(text, known.format))
      return problem + fmt::format(": time_format = \"{}\" of the mapping reads it", known.name);
  return problem;
}

std::optional<std::int64_t> parse_time(std::string_view text, TimeFormat format) {
  std::optional<std::int64_t> seconds;
  switch (format) {
    case TimeFormat::unix_seconds:
      seconds = parse_integer(text);
      break;
    case TimeFormat::unix_milliseconds:
      if (const auto milliseconds = parse_integer(text)) {
        seconds = *milliseconds / 1000 - (*milliseconds % 1000 < 0 ? 1 : 0);
      }
      break;
    case TimeFormat::iso:
      seconds = parse_iso(text);
      break;
    case TimeFormat::american:
      seconds = parse_american(text);
      break;
  }
  if (!seconds || *seconds < first_second || *seconds > last_second) return std::nullopt;
  return seconds;
}

void split_list(std::string_view text, char separator, std::vector<std::string_view>& out) {
  out.clear();
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (end != 0) out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

namespace {

constexpr std::size_t max_depth = 32;

// The parser itself keeps its stack on the heap; the limit bounds what a hostile line can make it keep.
class MemberHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  MemberHandler(JsonRoot root, JsonVisitor& visitor) : root_(root), visitor_(visitor) {}
  const std::string& problem() const { return problem_; }

  bool null() override { return scalar({JsonScalar::Kind::other, {}}); }
  bool boolean(bool /*value*/) override { return scalar({JsonScalar::Kind::other, {}}); }
  bool number_integer(number_integer_t value) override { return number(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& written) override { return number(written); }
  bool string(string_t& value) override { return scalar({JsonScalar::Kind::text, value}); }
  bool binary(binary_t& /*value*/) override { return refuse("binary values are not JSON"); }

  bool start_object(std::size_t /*elements*/) override { return enter(true); }
  bool start_array(std::size_t /*elements*/) override { return enter(false); }
  bool key(string_t& value) override {
    key_.swap(value);
    return true;
  }
  bool end_object() override {
    visitor_.object_end(inside_object_.size());
    inside_object_.pop_back();
    return true;
  }
  bool end_array() override {
    inside_object_.pop_back();
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return refuse(fmt::format("not JSON from character {}", position));
  }

 private:
  bool refuse(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool enter(bool object) {
    if (inside_object_.empty() && object != (root_ == JsonRoot::object)) return refuse(wrong_root());
    if (inside_object_.size() >= max_depth) return refuse("JSON nested too deep");
    inside_object_.push_back(object);
    return true;
  }
  bool number(const std::string& written) { return scalar({JsonScalar::Kind::number, written}); }
  bool scalar(const JsonScalar& value) {
    if (inside_object_.empty()) return refuse(wrong_root());
    if (inside_object_.back()) visitor_.member(inside_object_.size(), key_, value);
    return true;
  }
  std::string wrong_root() const {
    return root_ == JsonRoot::object ? "not a JSON object" : "not a JSON list";
  }

  JsonRoot root_;
  JsonVisitor& visitor_;
  std::vector<bool> inside_object_;
  std::string key_, problem_;
};

}  // namespace

Status visit_json(std::string_view document, JsonRoot root, JsonVisitor& visitor) {
  MemberHandler handler(root, visitor);
  try {
    if (nlohmann::json::sax_parse(document.begin(), document.end(), &handler)) return {};
  } catch (const nlohmann::json::exception& error) {
    return bad_input("not JSON: {}", error.what());
  }
  return bad_input("{}", handler.problem());
}

}  // namespace sotto::data
