#pragma once
// Words that reach a terminal must not steer it.

#include <string>
#include <string_view>

namespace sotto {

// UTF-8 without control characters (C0, DEL, C1).
bool is_printable(std::string_view text);

// The text itself, or with every byte outside of printable ASCII written as \xNN; cut after 80 bytes.
std::string printable(std::string_view text);

}  // namespace sotto
