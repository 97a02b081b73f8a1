#pragma once
// The little of Unicode that news titles need: lower case and a coarse class per character.
// Covers the Latin, Greek, Cyrillic and Armenian scripts for case; every other script is read as letters
// without case.

#include <cstdint>

namespace sotto {

// One character to one character ("ẞ" to "ß", "İ" to "i"); anything without case is returned unchanged.
char32_t lower_case(char32_t character);

// "e" and a combining acute accent to "é", for the accents of European languages; 0 when there is no such
// letter.
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

}  // namespace sotto
