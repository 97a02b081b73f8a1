#include "text/unicode.h"

#include <gtest/gtest.h>

namespace sotto::text {
namespace {

TEST(LowerCase, CoversEuropeanLetters) {
  const std::u32string upper = U"AZÆØÅÉÜÑĄČĐŁŐŘŞȘŽŸΑΩΆΏΣЖЯЁЂԱẞẠḀ";
  const std::u32string lower = U"azæøåéüñąčđłőřşșžÿαωάώσжяёђաßạḁ";
  ASSERT_EQ(upper.size(), lower.size());
  for (std::size_t i = 0; i < upper.size(); ++i) {
    EXPECT_EQ(lower_case(upper[i]), lower[i]) << std::hex << static_cast<std::uint32_t>(upper[i]);
  }
}

TEST(LowerCase, CoversScriptsBeyondEurope) {
  const std::u32string upper = U"\u10A0\u13A0\u2C00\U00010400", lower = U"\u2D00\uAB70\u2C30\U00010428";
  for (std::size_t i = 0; i < upper.size(); ++i) EXPECT_EQ(lower_case(upper[i]), lower[i]) << i;
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
  EXPECT_EQ(compose(U'и', 0x306), U'й');
  EXPECT_EQ(compose(compose(U'a', 0x302), 0x301), U'ấ');
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
}  // namespace sotto::text
