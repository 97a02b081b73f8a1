#pragma once
// Text from files and other people may hold terminal escapes, newlines or megabytes: what may be shown, and
// how the rest is.

#include <string>
#include <string_view>

namespace sotto {

// UTF-8 without control characters (C0, DEL, C1).
bool is_printable(std::string_view text);

// The text with every byte of a control character, and every byte that is not UTF-8, written as \xNN. More
// than `limit` bytes are cut at a character boundary and marked "...".
std::string printable(std::string_view text, std::size_t limit = 200);

}  // namespace sotto
