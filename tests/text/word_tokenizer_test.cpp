#include "text/word_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/distributions.h"
#include "base/utf8.h"
#include "text/unicode.h"

namespace sotto::text {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> words(std::string_view text, WordTokenizerSettings settings = {}) {
  return WordTokenizer(settings).tokenize(text);
}

TEST(WordTokenizer, SplitsWordsAndPunctuation) {
  EXPECT_THAT(words("Hello, world! (Really?)"),
              ElementsAre("hello", ",", "world", "!", "(", "really", "?", ")"));
}

TEST(WordTokenizer, LowerCasesAccentedAndNorwegianLetters) {
  EXPECT_THAT(words("ÆRLIG talt: Ålesund og Ørsta, CAFÉ"),
              ElementsAre("ærlig", "talt", ":", "ålesund", "og", "ørsta", ",", "café"));
}

TEST(WordTokenizer, KeepsNumbersWhole) {
  EXPECT_THAT(words("$1,000,000 at 10:30, up 3.5% in 2019."),
              ElementsAre("$", "1,000,000", "at", "10:30", ",", "up", "3.5", "%", "in", "2019", "."));
}

TEST(WordTokenizer, SplitsCliticsAsTreebankDoes) {
  EXPECT_THAT(words("Don't say it's what they'd've, we'll, I'm, you're"),
              ElementsAre("do", "n't", "say", "it", "'s", "what", "they'd", "'ve", ",", "we", "'ll", ",", "i",
                          "'m", ",", "you", "'re"));
  EXPECT_THAT(words("players' O'Brien 'quoted'"), ElementsAre("players", "'", "o'brien", "'", "quoted", "'"));
  EXPECT_THAT(words("DON'T", {.lower_case = false}), ElementsAre("DO", "N'T"));
}

TEST(WordTokenizer, TreatsTypographicQuotesLikeAscii) {
  EXPECT_THAT(words("“It’s”"), ElementsAre("\"", "it", "'s", "\""));
  EXPECT_THAT(words("«Så»"), ElementsAre("\"", "så", "\""));
}

TEST(WordTokenizer, KeepsAbbreviationsNamesAndAddresses) {
  EXPECT_THAT(words("U.S. at 5 a.m. by AT&T on amazon.com."),
              ElementsAre("u.s.", "at", "5", "a.m.", "by", "at&t", "on", "amazon.com", "."));
}

TEST(WordTokenizer, JoinsRunsOfDotsAndHyphens) {
  EXPECT_THAT(words("Wait…. what -- no — yes ....."),
              ElementsAre("wait", "...", "what", "--", "no", "--", "yes", "..."));
}

TEST(WordTokenizer, HyphensAreAnOption) {
  EXPECT_THAT(words("A 20-year-old t-shirt - new"), ElementsAre("a", "20-year-old", "t-shirt", "-", "new"));
  EXPECT_THAT(words("t-shirt", {.split_hyphens = true}), ElementsAre("t", "-", "shirt"));
}

TEST(WordTokenizer, OptionsSwitchRulesOff) {
  EXPECT_THAT(words("Yes, It's", {.lower_case = false, .keep_punctuation = false, .split_clitics = false}),
              ElementsAre("Yes", "It's"));
}

TEST(WordTokenizer, JoinsSeparateAccentsWithTheirLetter) {
  EXPECT_EQ(words("E\u0301te\u0301"), words("Été"));
  EXPECT_THAT(words("q\u0301x"), ElementsAre("q\u0301x"));
  EXPECT_THAT(words("\u0301"), ElementsAre("\u0301"));
}

TEST(WordTokenizer, DropsInvisibleCharacters) {
  EXPECT_THAT(words("\uFEFFin\u00ADvis\u200Bible\u202E"), ElementsAre("invisible"));
}

TEST(WordTokenizer, ReadsOtherScripts) {
  EXPECT_THAT(words("新聞 です"), ElementsAre("新", "聞", "で", "す"));
  EXPECT_THAT(words("НОВОСТИ дня"), ElementsAre("новости", "дня"));
  EXPECT_THAT(words("ＡＢＣ！"), ElementsAre("abc", "!"));
  EXPECT_THAT(words("Go 👍\uFE0F!"), ElementsAre("go", "👍", "!"));
}

TEST(WordTokenizer, EmptyAndBlankTextsHaveNoTokens) {
  EXPECT_THAT(words(""), IsEmpty());
  EXPECT_THAT(words(" \t\r\n\u00A0\u200B"), IsEmpty());
  EXPECT_THAT(words(std::string_view("\0\0", 2)), IsEmpty());
  EXPECT_THAT(words("...", {.keep_punctuation = false}), IsEmpty());
}

TEST(WordTokenizer, InvalidBytesStayInTheirWord) {
  EXPECT_THAT(words("Caf\xE9 \xFF\xFE ok"), ElementsAre("caf\uFFFD", "\uFFFD\uFFFD", "ok"));
}

// Strings made of pieces that meet the rules' edges, and of plain random bytes.
TEST(WordTokenizer, AnyBytesGiveNonEmptyValidTokensWithoutSpaces) {
  const std::vector<std::string> pieces = {"a",      "Z",
                                           "9",      ".",
                                           "-",      "'",
                                           "n't",    "'s",
                                           "&",      ",",
                                           ":",      " ",
                                           "…",      "—",
                                           "é",      "e\u0301",
                                           "\u0301", "新",
                                           "\xFF",   "\xE2\x82",
                                           "\u200B", "👍",
                                           "İ",      "_",
                                           "..",     std::string(1, '\0')};
  SeededRandom random(3, Purpose::test);
  Tokens tokens;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const std::size_t length = uniform_below(random, 12);
    for (std::size_t i = 0; i < length; ++i) {
      if (round % 2 == 0)
        text += pieces[uniform_below(random, pieces.size())];
      else
        text.push_back(static_cast<char>(uniform_below(random, 256)));
    }
    WordTokenizer({.lower_case = bernoulli(random, 0.5),
                   .keep_punctuation = bernoulli(random, 0.5),
                   .split_hyphens = bernoulli(random, 0.5),
                   .split_clitics = bernoulli(random, 0.5)})
        .tokenize(text, tokens);
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      ASSERT_FALSE(tokens[t].empty());
      ASSERT_TRUE(is_utf8(tokens[t]));
      ASSERT_EQ(tokens[t].find(' '), std::string_view::npos);
    }
  }
}

// Splitting again at the spaces between tokens must change nothing, or training and serving could disagree on
// texts that were stored in tokenized form.
TEST(WordTokenizer, TokenizingJoinedTokensKeepsTheirLetters) {
  const std::string title = "Gregg's 20-year-old U.S. café… isn't «sold» for $1,000.50 -- yet";
  const auto once = words(title);
  std::string joined, letters_once, letters_twice;
  for (const auto& word : once) {
    joined += word + " ";
    letters_once += word;
  }
  for (const auto& word : words(joined)) letters_twice += word;
  EXPECT_EQ(letters_twice, letters_once);
}

TEST(Tokens, AreReplacedByTheNextText) {
  const WordTokenizer tokenizer;
  Tokens tokens;
  tokenizer.tokenize("one two three", tokens);
  EXPECT_EQ(tokens.size(), 3U);
  tokenizer.tokenize("four", tokens);
  ASSERT_EQ(tokens.size(), 1U);
  EXPECT_EQ(tokens[0], "four");
}

}  // namespace
}  // namespace sotto::text
