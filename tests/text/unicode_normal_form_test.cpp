#include <gtest/gtest.h>

#include "text/unicode.h"

namespace sotto::text {
namespace {

std::u32string lower(std::u32string_view text) {
  std::u32string out;
  append_lower_case(text, out);
  return out;
}

std::u32string decomposed(std::u32string_view text) {
  std::u32string out;
  append_decomposed(text, out);
  return out;
}

TEST(UnicodeNormalForm, KeepsTheDotOfTheTurkishCapitalAsAMark) { EXPECT_EQ(lower(U"İI"), U"i\u0307i"); }

TEST(UnicodeNormalForm, WritesAFinalSigmaOnlyAtTheEndOfAWord) {
  EXPECT_EQ(lower(U"ΟΔΟΣ"), U"οδος");
  EXPECT_EQ(lower(U"ΟΔΟΣ."), U"οδος.");
  EXPECT_EQ(lower(U"ΟΔΟΣΟ"), U"οδοσο");
  EXPECT_EQ(lower(U"Σ"), U"σ");
}

TEST(UnicodeNormalForm, DecomposesHangulIntoTwoOrThreeLetters) {
  EXPECT_EQ(decomposed(U"한"), U"\u1112\u1161\u11AB");
  EXPECT_EQ(decomposed(U"하"), U"\u1112\u1161");
}

TEST(UnicodeNormalForm, SortsMarksByClassAndKeepsTheOrderOfEqualOnes) {
  EXPECT_EQ(decomposed(U"e\u0301\u0323"), U"e\u0323\u0301");
  EXPECT_EQ(decomposed(U"e\u0301\u0300"), U"e\u0301\u0300");
  EXPECT_EQ(decomposed(U"\u1EAD"), U"a\u0323\u0302");
}

TEST(UnicodeNormalForm, LeavesCompatibilityFormsAlone) { EXPECT_EQ(decomposed(U"ﬁ①ｱ"), U"ﬁ①ｱ"); }

class Fnv {
 public:
  void add(char32_t value) {
    for (int k = 0; k < 4; ++k) hash_ = (hash_ ^ (value >> (8 * k) & 0xFF)) * 0x100000001B3ULL;
  }
  void add(std::u32string_view text) {
    for (const char32_t c : text) add(c);
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325ULL;
};

// FNV-1a over 32-bit little-endian numbers for all scalar values c in order, computed with Python 3.11
// (unicodedata 14.0.0): the category's number in UnicodeCategory's order of {other, Cc, Cf, Zs, Zl or Zp, Mn,
// P*}; combining(c); ("A" + c + "Σ").lower() then (c + "Σ" + c).lower(); NFD of "\u0323" + c +
// "\u0301\u0316".
TEST(UnicodeNormalForm, AgreesWithPythonOnEveryCharacter) {
  Fnv categories, classes, lowered, forms;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    categories.add(static_cast<char32_t>(unicode_category(c)));
    classes.add(combining_class(c));
    lowered.add(lower(std::u32string{U'A', c, U'Σ'}));
    lowered.add(lower(std::u32string{c, U'Σ', c}));
    forms.add(decomposed(std::u32string{0x323, c, 0x301, 0x316}));
  }
  EXPECT_EQ(categories.value(), 0x152b49e85ec29b3ULL);
  EXPECT_EQ(classes.value(), 0x53327820e6b13e92ULL);
  EXPECT_EQ(lowered.value(), 0xff76d896852f38a0ULL);
  EXPECT_EQ(forms.value(), 0xb5dca1fc86bc97dULL);
}

}  // namespace
}  // namespace sotto::text
