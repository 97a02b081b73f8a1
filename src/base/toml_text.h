#pragma once
// What a text must pass before toml++ reads it.

#include <string_view>

#include "base/result.h"

namespace sotto {

// Refuses, naming the line, what toml++ 3.3 cannot be trusted with:
//  * bytes that are not UTF-8;
//  * characters beyond ASCII outside comments and one-line strings, or beside multi-line strings: it has
//  undefined
//    behaviour where it looks for white space and meets a letter like é instead;
//  * more than a hundred dots on a line: it limits how deep brackets nest but not dotted keys (a.a.a...), and
//    recurses over the tables those make;
//  * a line that opens a table and then names none ("[+x]", "["): it ends the process.
Status check_toml_text(std::string_view toml, std::string_view file_name);

}  // namespace sotto
