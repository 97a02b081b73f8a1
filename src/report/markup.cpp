#include "report/markup.h"

#include <algorithm>

#include "base/utf8.h"

namespace sotto::report {

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const char32_t c = decode_utf8(text, position);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '\t':
      case '\n':
      case '\r':
        out.push_back(static_cast<char>(c));
        break;
      default: {
        const bool forbidden = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xFFFE || c == 0xFFFF;
        append_utf8(forbidden ? replacement_character : c, out);
      }
    }
  }
  return out;
}

std::string padded(const std::string& text, std::size_t width) {
  // UTF-8 bytes that continue a letter take no room.
  const auto letters = static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
  return text + std::string(letters < width ? width - letters : 1, ' ');
}

}  // namespace sotto::report
