#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>

namespace sotto {

char32_t decode_utf8(std::string_view text, std::size_t& position) {
  const auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte_at(position++);
  if (lead < 0x80) return lead;
  // The range of the second byte excludes overlong forms, surrogates and values above U+10FFFF.
  int following = 0;
  unsigned char low = 0x80, high = 0xBF;
  char32_t value = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    following = 1;
    value = lead & 0x1FU;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    following = 2;
    value = lead & 0x0FU;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    following = 3;
    value = lead & 0x07U;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return replacement_character;
  }
  for (; following > 0; --following) {
    if (position >= text.size() || byte_at(position) < low || byte_at(position) > high)
      return replacement_character;
    value = value << 6 | (byte_at(position++) & 0x3FU);
    low = 0x80;
    high = 0xBF;
  }
  return value;
}

void append_utf8(char32_t character, std::string& out) {
  if (character > 0x10FFFF || (character >= 0xD800 && character <= 0xDFFF)) character = replacement_character;
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xC0 | character >> 6);
    put(0x80 | (character & 0x3F));
  } else if (character < 0x10000) {
    put(0xE0 | character >> 12);
    put(0x80 | (character >> 6 & 0x3F));
    put(0x80 | (character & 0x3F));
  } else {
    put(0xF0 | character >> 18);
    put(0x80 | (character >> 12 & 0x3F));
    put(0x80 | (character >> 6 & 0x3F));
    put(0x80 | (character & 0x3F));
  }
}

std::size_t utf8_character(std::string_view text) {
  if (text.empty()) return 0;
  std::size_t length = 0;
  const char32_t character = decode_utf8(text, length);
  return character == replacement_character && text.substr(0, length) != "\uFFFD" ? 0 : length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

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
