#include "text/unicode.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "text/unicode_tables.h"

namespace sotto::text {

namespace {

struct ClassRange {
  char32_t first, last;
  CharacterClass kind;
};

// Above ASCII; what is in no range is a letter. In order, not overlapping. Written by hand because no
// property of Unicode says it: what is a word of its own (ideographs), ends one (symbols and emoji as well)
// or is left out is a choice, and the generated categories do not tell letters from symbols.
constexpr ClassRange class_ranges[] = {
    {0x80, 0xA0, CharacterClass::space},
    {0xA1, 0xA9, CharacterClass::punctuation},
    {0xAB, 0xAC, CharacterClass::punctuation},
    {0xAD, 0xAD, CharacterClass::ignored},  // soft hyphen
    {0xAE, 0xB1, CharacterClass::punctuation},
    {0xB4, 0xB4, CharacterClass::punctuation},
    {0xB6, 0xB8, CharacterClass::punctuation},
    {0xBB, 0xBB, CharacterClass::punctuation},
    {0xBF, 0xBF, CharacterClass::punctuation},
    {0xD7, 0xD7, CharacterClass::punctuation},
    {0xF7, 0xF7, CharacterClass::punctuation},
    {0x300, 0x36F, CharacterClass::mark},
    {0x37E, 0x37E, CharacterClass::punctuation},
    {0x387, 0x387, CharacterClass::punctuation},
    {0x483, 0x489, CharacterClass::mark},
    {0x55A, 0x55F, CharacterClass::punctuation},
    {0x589, 0x58F, CharacterClass::punctuation},
    {0x591, 0x5BD, CharacterClass::mark},
    {0x5BE, 0x5BE, CharacterClass::punctuation},
    {0x5F3, 0x5F4, CharacterClass::punctuation},
    {0x600, 0x60F, CharacterClass::punctuation},
    {0x61B, 0x61F, CharacterClass::punctuation},
    {0x64B, 0x65F, CharacterClass::mark},
    {0x66A, 0x66D, CharacterClass::punctuation},
    {0x964, 0x965, CharacterClass::punctuation},
    {0x1680, 0x1680, CharacterClass::space},
    {0x180E, 0x180E, CharacterClass::ignored},
    {0x1AB0, 0x1AFF, CharacterClass::mark},
    {0x1DC0, 0x1DFF, CharacterClass::mark},
    {0x2000, 0x200A, CharacterClass::space},
    {0x200B, 0x200F, CharacterClass::ignored},  // zero width, direction marks
    {0x2010, 0x2027, CharacterClass::punctuation},
    {0x2028, 0x2029, CharacterClass::space},
    {0x202A, 0x202E, CharacterClass::ignored},
    {0x202F, 0x202F, CharacterClass::space},
    {0x2030, 0x205E, CharacterClass::punctuation},
    {0x205F, 0x205F, CharacterClass::space},
    {0x2060, 0x206F, CharacterClass::ignored},
    {0x207A, 0x207E, CharacterClass::punctuation},
    {0x208A, 0x208E, CharacterClass::punctuation},
    {0x20A0, 0x20CF, CharacterClass::punctuation},  // currency
    {0x20D0, 0x20FF, CharacterClass::mark},
    {0x2100, 0x2125, CharacterClass::punctuation},
    {0x2190, 0x2BFF, CharacterClass::punctuation},  // arrows, mathematics, boxes, symbols
    {0x2E00, 0x2E7F, CharacterClass::punctuation},
    {0x2E80, 0x2FFF, CharacterClass::ideograph},
    {0x3000, 0x3000, CharacterClass::space},
    {0x3001, 0x3004, CharacterClass::punctuation},
    {0x3005, 0x3007, CharacterClass::ideograph},
    {0x3008, 0x3020, CharacterClass::punctuation},
    {0x3021, 0x3029, CharacterClass::ideograph},
    {0x302A, 0x302F, CharacterClass::mark},
    {0x3030, 0x3030, CharacterClass::punctuation},
    {0x3031, 0x3098, CharacterClass::ideograph},
    {0x3099, 0x309A, CharacterClass::mark},
    {0x309B, 0x30FF, CharacterClass::ideograph},
    {0x31F0, 0x9FFF, CharacterClass::ideograph},
    {0xD800, 0xF8FF, CharacterClass::ignored},  // surrogates, private use
    {0xF900, 0xFAFF, CharacterClass::ideograph},
    {0xFE00, 0xFE0F, CharacterClass::ignored},  // variation selectors
    {0xFE10, 0xFE1F, CharacterClass::punctuation},
    {0xFE20, 0xFE2F, CharacterClass::mark},
    {0xFE30, 0xFE6F, CharacterClass::punctuation},
    {0xFEFF, 0xFEFF, CharacterClass::ignored},  // byte order mark
    {0xFF00, 0xFF0F, CharacterClass::punctuation},
    {0xFF1A, 0xFF20, CharacterClass::punctuation},
    {0xFF3B, 0xFF40, CharacterClass::punctuation},
    {0xFF5B, 0xFF65, CharacterClass::punctuation},
    {0xFF66, 0xFF9F, CharacterClass::ideograph},
    {0xFFE0, 0xFFEF, CharacterClass::punctuation},
    {0xFFF0, 0xFFFB, CharacterClass::ignored},
    {0xFFFC, 0xFFFC, CharacterClass::ignored},
    {0x1F000, 0x1FAFF, CharacterClass::punctuation},  // emoji and game symbols
    {0x20000, 0x3FFFF, CharacterClass::ideograph},
    {0xE0000, 0x10FFFF, CharacterClass::ignored},  // tags, private use
};

}  // namespace

CharacterClass classify(char32_t c) {
  if (c < 0x80) {
    if (c >= '0' && c <= '9') return CharacterClass::digit;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return CharacterClass::letter;
    return c <= ' ' || c == 0x7F ? CharacterClass::space : CharacterClass::punctuation;
  }
  const auto* range = std::partition_point(std::begin(class_ranges), std::end(class_ranges),
                                           [&](const ClassRange& r) { return r.last < c; });
  return range != std::end(class_ranges) && range->first <= c ? range->kind : CharacterClass::letter;
}

namespace {

using unicode_tables::CaseRole;

template <class Range>
const Range* find_range(std::span<const Range> ranges, char32_t character) {
  const auto found =
      std::partition_point(ranges.begin(), ranges.end(), [&](const Range& r) { return r.last < character; });
  return found != ranges.end() && found->first <= character ? &*found : nullptr;
}

template <class Range, class Value>
Value value_in(std::span<const Range> ranges, char32_t character, Value otherwise) {
  const Range* range = find_range(ranges, character);
  return range == nullptr ? otherwise : range->value;
}

CaseRole case_role(char32_t character) {
  return value_in(unicode_tables::case_roles(), character, CaseRole::none);
}

constexpr char32_t capital_sigma = 0x3A3, small_sigma = 0x3C3, final_sigma = 0x3C2;

// A capital sigma ends a word when, apart from characters without a say, a cased one stands before it and
// none behind it (condition Final_Sigma of the Unicode standard).
char32_t lower_sigma(std::u32string_view text, std::size_t position) {
  const auto cased_beyond = [](auto begin, auto end) {
    const auto telling =
        std::find_if(begin, end, [](char32_t c) { return case_role(c) != CaseRole::ignorable; });
    return telling != end && case_role(*telling) == CaseRole::cased;
  };
  const auto here = text.begin() + static_cast<std::ptrdiff_t>(position);
  const bool before = cased_beyond(std::make_reverse_iterator(here), text.rend());
  return before && !cased_beyond(here + 1, text.end()) ? final_sigma : small_sigma;
}

char32_t simple_lower(char32_t character) {
  const auto* range = find_range(unicode_tables::lower_cases(), character);
  if (range == nullptr || (character - range->first) % range->step != 0) return character;
  return static_cast<char32_t>(static_cast<std::int32_t>(character) + range->delta);
}

// Hangul syllables are laid out regularly: leading consonant, vowel, optional trailing consonant.
constexpr char32_t first_syllable = 0xAC00, last_syllable = 0xD7A3, first_lead = 0x1100, first_vowel = 0x1161,
                   before_first_trail = 0x11A7, vowels = 21, trails = 28;

void append_syllable(char32_t syllable, std::u32string& out) {
  const char32_t index = syllable - first_syllable, trail = index % trails;
  out.push_back(first_lead + index / (vowels * trails));
  out.push_back(first_vowel + index / trails % vowels);
  if (trail != 0) out.push_back(before_first_trail + trail);
}

void append_parts(char32_t character, std::u32string& out) {
  if (character < 0xC0) return out.push_back(character);
  if (character >= first_syllable && character <= last_syllable) return append_syllable(character, out);
  const auto rows = unicode_tables::decompositions();
  const auto found = std::partition_point(rows.begin(), rows.end(),
                                          [&](const auto& row) { return row.character < character; });
  if (found == rows.end() || found->character != character) return out.push_back(character);
  const auto parts = unicode_tables::parts().subspan(found->begin, found->count);
  out.append(parts.begin(), parts.end());
}

// What a letter and one mark behind it are together: the canonical decompositions, read backwards.
using Composed = std::map<std::pair<char32_t, char32_t>, char32_t>;

Composed read_backwards() {
  std::map<std::u32string, char32_t> whole;  // by all parts
  Composed composed;
  constexpr std::uint8_t most_parts = 4;
  constexpr char32_t dotted_i = 0x130;  // whose small letter has no dot of its own
  for (std::uint8_t count = 2; count <= most_parts; ++count) {
    for (const auto& row : unicode_tables::decompositions()) {
      if (row.count != count || row.character == dotted_i) continue;
      const auto parts = unicode_tables::parts().subspan(row.begin, row.count);
      whole.emplace(std::u32string(parts.begin(), parts.end()), row.character);
      const auto before = whole.find(std::u32string(parts.begin(), parts.end() - 1));
      if (count == 2) {
        composed.emplace(std::pair(parts.front(), parts.back()), row.character);
      } else if (before != whole.end()) {
        composed.emplace(std::pair(before->second, parts.back()), row.character);
      }
    }
  }
  return composed;
}

}  // namespace

char32_t lower_case(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  if (c == 0x130) return 'i';                // İ: one character
  if (c == final_sigma) return small_sigma;  // so that a word has one form
  if (c >= 0x24B6 && c <= 0x24CF) return c;  // circled letters are symbols here
  return simple_lower(c);
}

char32_t compose(char32_t letter, char32_t mark) {
  static const Composed composed = read_backwards();
  const auto found = composed.find({letter, mark});
  return found == composed.end() ? 0 : found->second;
}

UnicodeCategory unicode_category(char32_t character) {
  return value_in(unicode_tables::categories(), character, UnicodeCategory::other);
}

std::uint8_t combining_class(char32_t character) {
  return value_in(unicode_tables::combining_classes(), character, std::uint8_t{0});
}

void append_lower_case(std::u32string_view text, std::u32string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (c < 0x80) {
      out.push_back(c >= 'A' && c <= 'Z' ? c + 32 : c);
    } else if (c == capital_sigma) {
      out.push_back(lower_sigma(text, i));
    } else if (c == 0x130) {  // capital I with a dot: the dot stays, as a mark
      out.append({'i', 0x307});
    } else {
      out.push_back(simple_lower(c));
    }
  }
}

void append_decomposed(std::u32string_view text, std::u32string& out) {
  const std::size_t begin = out.size();
  for (const char32_t character : text) append_parts(character, out);
  // Runs of marks (class not 0) are sorted by class, equal classes keeping their order.
  const auto starts_cluster = [](char32_t c) { return c < 0x300 || combining_class(c) == 0; };
  for (auto run = out.begin() + static_cast<std::ptrdiff_t>(begin); run != out.end();) {
    run = std::find_if_not(run, out.end(), starts_cluster);
    const auto end = std::find_if(run, out.end(), starts_cluster);
    if (end - run > 1) {
      std::stable_sort(run, end,
                       [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
    }
    run = end;
  }
}

}  // namespace sotto::text
