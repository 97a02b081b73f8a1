#pragma once
// The two encodings that published data sets use. Everything is UTF-8 once it has been read.

#include <string>
#include <string_view>

namespace sotto {

enum class Encoding { utf8, latin1 };

// ISO 8859-1: every byte is the code point of the same number, so no input is invalid.
void append_latin1_as_utf8(std::string_view latin1, std::string& out);

// Some exports begin with U+FEFF; it is not part of the first field.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace sotto
