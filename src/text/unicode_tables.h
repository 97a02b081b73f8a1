#pragma once
// Properties of all Unicode characters as sorted tables; unicode.h is how they are asked.
// unicode_tables.cpp is written by tools/make_unicode_tables.py.

#include <cstdint>
#include <span>

#include "text/unicode.h"

namespace sotto::text::unicode_tables {

struct CategoryRange {
  char32_t first, last;
  UnicodeCategory value;
};

// What a character tells about the case of a capital sigma beside it.
enum class CaseRole : std::uint8_t { none, cased, ignorable };
struct CaseRange {
  char32_t first, last;
  CaseRole value;
};

struct ClassRange {
  char32_t first, last;
  std::uint8_t value;
};

// Every step-th character of [first, last] has its small letter `delta` further.
struct LowerRange {
  char32_t first, last;
  std::uint32_t step;
  std::int32_t delta;
};

// The full canonical decomposition of a character: parts()[begin, begin + count).
struct Decomposition {
  char32_t character;
  std::uint16_t begin;
  std::uint8_t count;
};

// Sorted, not overlapping. Characters in no range have UnicodeCategory::other, CaseRole::none, class 0, no
// small letter, no decomposition.
std::span<const CategoryRange> categories();
std::span<const CaseRange> case_roles();
std::span<const ClassRange> combining_classes();
std::span<const LowerRange> lower_cases();
std::span<const Decomposition> decompositions();
std::span<const char32_t> parts();

}  // namespace sotto::text::unicode_tables
