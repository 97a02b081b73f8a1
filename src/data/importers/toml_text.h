#pragma once
// A check that a text must pass before toml++ reads it.

#include <cstdint>
#include <optional>
#include <string_view>

namespace sotto {

// toml++ 3.3 has undefined behaviour where it looks for white space and meets a letter like é instead, so
// characters beyond ASCII may stand in comments and one-line strings only, and not beside multi-line strings.
// Returns the first line that breaks this, from 1. Texts in ASCII never do.
std::optional<std::uint64_t> line_unsafe_for_toml(std::string_view toml);

}  // namespace sotto
