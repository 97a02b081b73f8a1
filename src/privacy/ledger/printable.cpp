#include "privacy/ledger/printable.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace sotto {

bool is_printable(std::string_view text) {
  if (!is_utf8(text)) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return false;
    // U+0080 to U+009F are C2 80 to C2 9F.
    if (byte == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0) return false;
  }
  return true;
}

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 80;
  if (text.size() <= longest && is_printable(text)) return std::string(text);
  std::string out;
  for (const char c : text.substr(0, longest)) {
    if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text.size() > longest ? out + "..." : out;
}

}  // namespace sotto
