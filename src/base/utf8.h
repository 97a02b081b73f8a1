#pragma once
// Is this text really UTF-8?

#include <string_view>

namespace sotto {

// Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace sotto
