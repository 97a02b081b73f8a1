#include "base/utf8.h"

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

}  // namespace sotto
