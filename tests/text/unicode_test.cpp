#include "text/unicode.h"

#include <gtest/gtest.h>

#include "base/distributions.h"

namespace sotto {
namespace {

std::u32string decode_all(std::string_view text) {
  std::u32string out;
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t before = position;
    out.push_back(decode_utf8(text, position));
    EXPECT_GT(position, before);
    EXPECT_LE(position, text.size());
  }
  return out;
}

TEST(Utf8, EveryScalarValueSurvivesARoundTrip) {
  std::string bytes;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    bytes.clear();
    append_utf8(c, bytes);
    std::size_t position = 0;
    ASSERT_EQ(decode_utf8(bytes, position), c);
    ASSERT_EQ(position, bytes.size());
  }
}

TEST(Utf8, BrokenSequencesBecomeReplacementCharacters) {
  EXPECT_EQ(decode_all("\x80"), U"\uFFFD");            // continuation alone
  EXPECT_EQ(decode_all("\xC0\xAF"), U"\uFFFD\uFFFD");  // overlong
  EXPECT_EQ(decode_all("\xE2\x82"), U"\uFFFD");        // cut at the end
  EXPECT_EQ(decode_all("\xE2\x82"
                       "a"),
            U"\uFFFDa");                                                   // cut in the middle
  EXPECT_EQ(decode_all("\xED\xA0\x80"), U"\uFFFD\uFFFD\uFFFD");            // surrogate
  EXPECT_EQ(decode_all("\xF4\x90\x80\x80"), U"\uFFFD\uFFFD\uFFFD\uFFFD");  // above U+10FFFF
  EXPECT_EQ(decode_all("caf\xE9 x"), U"caf\uFFFD x");                      // Latin-1
}

TEST(Utf8, ValidityAgreesWithDecodingOnRandomBytes) {
  SeededRandom random(1, Purpose::test);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    const std::size_t length = uniform_below(random, 6);
    for (std::size_t i = 0; i < length; ++i) bytes.push_back(static_cast<char>(uniform_below(random, 256)));
    std::string encoded;
    for (const char32_t c : decode_all(bytes)) append_utf8(c, encoded);
    EXPECT_TRUE(is_valid_utf8(encoded));
    EXPECT_EQ(is_valid_utf8(bytes), encoded == bytes);
  }
}

TEST(Utf8, ImpossibleValuesAreWrittenAsReplacement) {
  std::string out;
  append_utf8(0xD800, out);
  append_utf8(0x110000, out);
  EXPECT_EQ(out, "\uFFFD\uFFFD");
}

TEST(LowerCase, CoversEuropeanLetters) {
  const std::u32string upper = U"AZÆØÅÉÜÑĄČĐŁŐŘŞȘŽŸΑΩΆΏΣЖЯЁЂԱẞẠḀ";
  const std::u32string lower = U"azæøåéüñąčđłőřşșžÿαωάώσжяёђաßạḁ";
  ASSERT_EQ(upper.size(), lower.size());
  for (std::size_t i = 0; i < upper.size(); ++i) {
    EXPECT_EQ(lower_case(upper[i]), lower[i]) << std::hex << static_cast<std::uint32_t>(upper[i]);
  }
}

TEST(LowerCase, IsIdempotentAndLeavesPunctuationAlone) {
  for (char32_t c = 0; c < 0x20000; ++c) {
    const char32_t once = lower_case(c);
    ASSERT_EQ(lower_case(once), once) << std::hex << static_cast<std::uint32_t>(c);
    if (classify(c) == CharacterClass::punctuation) {
      ASSERT_EQ(once, c);
    }
  }
}

TEST(Compose, JoinsLettersAndAccents) {
  EXPECT_EQ(compose(U'e', 0x301), U'é');
  EXPECT_EQ(compose(U'a', 0x30A), U'å');
  EXPECT_EQ(compose(U'n', 0x303), U'ñ');
  EXPECT_EQ(compose(U'O', 0x308), U'Ö');
  EXPECT_EQ(compose(U'q', 0x301), char32_t{0});
  EXPECT_EQ(compose(U'e', U'x'), char32_t{0});
}

TEST(Compose, CommutesWithLowerCase) {
  for (char32_t mark = 0x300; mark < 0x330; ++mark) {
    for (char32_t letter = 'A'; letter <= 'Z'; ++letter) {
      const char32_t upper = compose(letter, mark);
      if (upper != 0) {
        EXPECT_EQ(lower_case(upper), compose(letter + 32, mark));
      }
    }
  }
}

TEST(CharacterClasses, SeparateWordsFromTheRest) {
  for (const char32_t c : std::u32string(U"aZæøåßñłЖωא\uFFFD"))
    EXPECT_EQ(classify(c), CharacterClass::letter);
  for (const char32_t c : std::u32string(U".,!?$£€«»–—…“”’%&@#→✓😀×"))
    EXPECT_EQ(classify(c), CharacterClass::punctuation);
  for (const char32_t c : std::u32string(U" \t\n\r\u00A0\u2003\u3000\u0085"))
    EXPECT_EQ(classify(c), CharacterClass::space);
  for (const char32_t c : std::u32string(U"\u200B\u200D\uFEFF\u00AD\uFE0F\u202E"))
    EXPECT_EQ(classify(c), CharacterClass::ignored);
  for (const char32_t c : std::u32string(U"新聞あカ")) EXPECT_EQ(classify(c), CharacterClass::ideograph);
  EXPECT_EQ(classify(0), CharacterClass::space);
  EXPECT_EQ(classify(0x301), CharacterClass::mark);
  EXPECT_EQ(classify(U'7'), CharacterClass::digit);
}

}  // namespace
}  // namespace sotto
