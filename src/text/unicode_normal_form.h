#pragma once
// Exact Unicode where unicode.h is a sketch: general categories, full lower case and the canonical
// decomposition (NFD), for algorithms that must agree with others character by character. Equal to Python
// 3.11's unicodedata (Unicode 14.0). Pure functions, safe from many threads.

#include <cstdint>
#include <string>
#include <string_view>

namespace sotto {

// The general categories that tokenizers ask for.
enum class UnicodeCategory : std::uint8_t {
  other,            // all letters, digits, symbols, spacing marks, private use, unassigned
  control,          // Cc
  format,           // Cf
  space,            // Zs
  line_end,         // Zl, Zp
  nonspacing_mark,  // Mn
  punctuation,      // Pc, Pd, Ps, Pe, Pi, Pf, Po
};
UnicodeCategory unicode_category(char32_t character);

// Canonical combining class: 0 for all that starts a cluster.
std::uint8_t combining_class(char32_t character);

// Appends the full lower case: "İ" becomes two characters, and a capital sigma that ends a word the final
// one.
void append_lower_case(std::u32string_view text, std::u32string& out);

// Appends the canonical decomposition, marks in canonical order. `text` must not be a view of `out`.
void append_decomposed(std::u32string_view text, std::u32string& out);

}  // namespace sotto
