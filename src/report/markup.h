#pragma once
// Text made safe for HTML and SVG.

#include <string>
#include <string_view>

namespace sotto::report {

// For element content and quoted attributes alike. Control characters, which XML forbids, and invalid UTF-8
// become U+FFFD.
std::string escape_markup(std::string_view text);

// Filled up with spaces to so many letters, at least one. Letters as a terminal counts them.
std::string padded(const std::string& text, std::size_t width);

}  // namespace sotto::report
