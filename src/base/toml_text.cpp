#include "base/toml_text.h"

#include <algorithm>

#include "base/utf8.h"

namespace sotto {

namespace {

bool beyond_ascii(char character) { return static_cast<unsigned char>(character) >= 0x80; }

// Where the string that opens at `start` ends: at its closing quote or at the end of the line.
std::size_t end_of_string(std::string_view line, std::size_t start) {
  const char quote = line[start];
  for (std::size_t at = start + 1; at < line.size(); ++at) {
    if (line[at] == quote) return at;
    if (line[at] == '\\' && quote == '"') ++at;
  }
  return line.size();
}

// A line that starts outside of strings, as every line does where strings end with their line.
bool is_unsafe(std::string_view line) {
  bool in_value = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const std::string_view rest = line.substr(at);
    if (rest[0] == '#') return false;
    if (beyond_ascii(rest[0]) || rest.starts_with("\"\"\"") || rest.starts_with("'''")) return true;
    in_value = in_value || rest[0] == '=';
    if (rest[0] != '"' && rest[0] != '\'') continue;
    // A quote behind something else (0'...) is part of that to toml++, and no string begins there.
    const std::string_view before = in_value ? " \t=,[{" : " \t=,[{.";
    const std::size_t end = end_of_string(line, at);
    if (end == line.size() || (at > 0 && before.find(line[at - 1]) == std::string_view::npos))
      return std::any_of(rest.begin(), rest.end(), beyond_ascii);
    at = end;
  }
  return false;
}

// After the brackets that open a table comes a name, bare or in quotes, or the brackets close.
bool opens_unnamed_table(std::string_view line) {
  const auto skip_spaces = [&line] {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  };
  skip_spaces();
  if (!line.starts_with('[')) return false;
  for (int brackets = 0; brackets < 2 && line.starts_with('['); ++brackets) {
    line.remove_prefix(1);
    skip_spaces();
  }
  constexpr std::string_view begins_name =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-\"'";
  return line.empty() || (line[0] != ']' && begins_name.find(line[0]) == std::string_view::npos);
}

constexpr std::ptrdiff_t most_dots = 100;

}  // namespace

Status check_toml_text(std::string_view toml, std::string_view file_name) {
  const bool ascii = std::none_of(toml.begin(), toml.end(), beyond_ascii);
  for (std::size_t number = 1; !toml.empty(); ++number) {
    const std::string_view line = toml.substr(0, toml.find('\n'));
    if (!is_utf8(line)) return bad_input("{}:{}: not valid UTF-8", file_name, number);
    if (std::count(line.begin(), line.end(), '.') > most_dots)
      return bad_input("{}:{}: more than {} dots on one line", file_name, number, most_dots);
    if (opens_unnamed_table(line))
      return bad_input("{}:{}: a table is named in its brackets, as in [train]", file_name, number);
    if (!ascii && is_unsafe(line))
      return bad_input("{}:{}: put text beyond ASCII into quotes, in one line", file_name, number);
    toml.remove_prefix(std::min(line.size() + 1, toml.size()));
  }
  return {};
}

}  // namespace sotto
