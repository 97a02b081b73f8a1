#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"

namespace sotto {

namespace {

// How many bytes at the start are one character that may be shown; 0 if they are not.
std::size_t shown_character(std::string_view text) {
  const std::size_t length = utf8_character(text);
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x20 || first == 0x7f) return 0;
  // U+0080 to U+009F are C2 80 to C2 9F.
  if (length == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0) return 0;
  return length;
}

}  // namespace

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = shown_character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::size_t kept = text.size();
  if (kept > limit) {
    kept = limit;
    // 10xxxxxx bytes continue a UTF-8 character: step back to its first byte.
    while (kept > 0 && (static_cast<unsigned char>(text[kept]) & 0xC0) == 0x80) --kept;
  }
  std::string shown;
  for (std::string_view left = text.substr(0, kept); !left.empty();) {
    const std::size_t length = shown_character(left);
    if (length > 0) {
      shown += left.substr(0, length);
    } else {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(left.front()));
    }
    left.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return kept < text.size() ? shown + "..." : shown;
}

}  // namespace sotto
