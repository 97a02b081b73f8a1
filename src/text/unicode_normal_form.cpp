#include "text/unicode_normal_form.h"

#include <algorithm>
#include <span>

#include "text/unicode_tables.h"

namespace sotto {

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

}  // namespace

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

}  // namespace sotto
