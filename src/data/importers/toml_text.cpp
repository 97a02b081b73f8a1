#include "data/importers/toml_text.h"

#include <algorithm>

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
  for (std::size_t at = 0; at < line.size(); ++at) {
    const std::string_view rest = line.substr(at);
    if (rest[0] == '#') return false;
    if (beyond_ascii(rest[0]) || rest.starts_with("\"\"\"") || rest.starts_with("'''")) return true;
    if (rest[0] == '"' || rest[0] == '\'') at = end_of_string(line, at);
  }
  return false;
}

}  // namespace

std::optional<std::uint64_t> line_unsafe_for_toml(std::string_view toml) {
  if (std::none_of(toml.begin(), toml.end(), beyond_ascii)) return std::nullopt;
  for (std::uint64_t number = 1; !toml.empty(); ++number) {
    const std::size_t end = std::min(toml.find('\n'), toml.size());
    if (is_unsafe(toml.substr(0, end))) return number;
    toml.remove_prefix(std::min(end + 1, toml.size()));
  }
  return std::nullopt;
}

}  // namespace sotto
