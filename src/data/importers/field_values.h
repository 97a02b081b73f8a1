#pragma once
// The text and the values of single fields.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sotto::data {

// The two encodings that published data sets use. Everything is UTF-8 once it has been read.
enum class Encoding { utf8, latin1 };

// ISO 8859-1: every byte is the code point of the same number, so no input is invalid.
void append_latin1_as_utf8(std::string_view latin1, std::string& out);

// Some exports begin with U+FEFF; it is not part of the first field.
std::string_view without_byte_order_mark(std::string_view text);

// Strict reading of single values: the whole field must be the value, or there is none.
std::optional<std::int64_t> parse_integer(std::string_view text);
// Finite numbers only.
std::optional<float> parse_number(std::string_view text);

enum class TimeFormat {
  unix_seconds,       // 1483225201
  unix_milliseconds,  // 1506826828020, cut to seconds
  iso,                // 2017-01-01, 2017-01-01 10:20, 2017-01-01T10:20:30.5Z, ...+01:00; no zone means UTC
  american,           // 11/12/2019 2:14:46 PM, as in MIND; taken as UTC
};
// "unix", "unix-ms", "iso", "american".
std::optional<TimeFormat> time_format_named(std::string_view name);
// What is wrong with a time that parse_time() refused: the text, the format asked for, and the one that reads
// it.
std::string time_problem(std::string_view text, TimeFormat format);
constexpr std::int64_t seconds_per_day = 86'400;
// Seconds since 1970; years 1 to 9999.
std::optional<std::int64_t> parse_time(std::string_view text, TimeFormat format);

// The non-empty pieces of `text` between separators.
void split_list(std::string_view text, char separator, std::vector<std::string_view>& out);

// Without spaces around it.
std::string_view trimmed(std::string_view text);

// Walks one JSON document and hands out the scalar members of its objects, without building a tree.
struct JsonScalar {
  enum class Kind { text, number, other };  // other: true, false, null
  Kind kind;
  std::string_view text;  // the string, or the number as written
};

// Receives members in document order. Views live during the call only.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  // `depth` counts the objects and arrays around the member: 1 in {"a": 1}, 2 in [{"a": 1}].
  virtual void member(std::size_t depth, std::string_view key, const JsonScalar& value) = 0;
  // After the last member of an object at `depth`.
  virtual void object_end(std::size_t depth) = 0;
};

enum class JsonRoot { object, array };

// An error says what is wrong with the document: not JSON, another kind of root, nested too deep.
Status visit_json(std::string_view document, JsonRoot root, JsonVisitor& visitor);

}  // namespace sotto::data
