#include "data/printable.h"

namespace sotto {

std::string printable(std::string_view text, std::size_t limit) {
  std::size_t length = text.size();
  if (length > limit) {
    length = limit;
    // 10xxxxxx bytes continue a UTF-8 character: step back to its first byte.
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  }
  std::string shown(text.substr(0, length));
  for (char& character : shown) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7F) character = '?';
  }
  if (length < text.size()) shown += "...";
  return shown;
}

}  // namespace sotto
