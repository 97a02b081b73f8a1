#pragma once
// Text from files may hold terminal escapes, newlines or megabytes; this makes it safe to show.

#include <string>
#include <string_view>

namespace sotto {

// Control characters become '?', and more than `limit` bytes are cut at a character boundary and marked
// "...".
std::string printable(std::string_view text, std::size_t limit = 200);

}  // namespace sotto
