#pragma once
// Unicode as the tokenizers need it, from the generated tables (unicode_tables.h): first what words of news
// titles are made by, a character at a time and with a coarse class of our own, then the exact properties.

#include <cstdint>
#include <string>
#include <string_view>

namespace sotto::text {

// One character to one character ("ẞ" to "ß", "İ" to "i"); anything without case is returned unchanged.
char32_t lower_case(char32_t character);

// "e" and a combining acute accent to "é"; 0 when there is no such letter.
char32_t compose(char32_t letter, char32_t mark);

enum class CharacterClass : std::uint8_t {
  letter,       // all scripts with spaces between words, and U+FFFD: a damaged word stays one word
  digit,        // 0-9 (other digits count as letters)
  mark,         // combining accents: belong to the letter before them
  ideograph,    // Han, Hiragana, Katakana: a word each, since no spaces tell the words apart
  space,        // spaces, line ends, control characters
  ignored,      // zero-width and formatting characters, variation selectors
  punctuation,  // everything else: punctuation, currency, symbols, emoji
};
CharacterClass classify(char32_t character);

// Exact Unicode: general categories, full lower case and the canonical
// decomposition (NFD), for algorithms that must agree with others character by character. Equal to Python
// 3.11's unicodedata (Unicode 14.0). Pure functions, safe from many threads.

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

}  // namespace sotto::text
