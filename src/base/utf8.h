#pragma once
// UTF-8, read strictly: no overlong forms, no surrogates, nothing above U+10FFFF.

#include <cstddef>
#include <string>
#include <string_view>

namespace sotto {

constexpr char32_t replacement_character = 0xFFFD;

// Decodes the character at `position` and moves behind it. Overlong forms, surrogates, values above U+10FFFF
// and cut sequences give U+FFFD, one per maximal broken part, as the Unicode standard recommends. Requires
// position < text.size().
char32_t decode_utf8(std::string_view text, std::size_t& position);

// Appends the UTF-8 form; what is not a Unicode scalar value is written as U+FFFD.
void append_utf8(char32_t character, std::string& out);

// How many bytes the first character has; 0 if the text does not begin with one, or is empty.
std::size_t utf8_character(std::string_view text);

bool is_utf8(std::string_view text);

// Text from files and other people may hold terminal escapes, newlines or megabytes: what may be shown, and
// how the rest is.

// UTF-8 without control characters (C0, DEL, C1).
bool is_printable(std::string_view text);

// The text with every byte of a control character, and every byte that is not UTF-8, written as \xNN. More
// than `limit` bytes are cut at a character boundary and marked "...".
std::string printable(std::string_view text, std::size_t limit = 200);

}  // namespace sotto
