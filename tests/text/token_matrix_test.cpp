#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "base/thread_pool.h"
#include "text/vocabulary.h"

namespace sotto::text {
namespace {

using ::testing::ElementsAre;

struct Texts {
  std::vector<std::string> rows;
  TextAt at() const {
    return [this](std::size_t i) { return std::string_view(rows[i]); };
  }
};

TEST(TokenMatrix, PadsShortTextsAndCutsLongOnes) {
  const Texts texts{{"b a a", "", "a b unknown! a b", "…"}};
  WordCounts counts;
  counts.add("a", 5);
  counts.add("b", 4);
  const auto vocabulary = Vocabulary::build(counts);
  const auto matrix = build_token_matrix(texts.rows.size(), texts.at(), WordTokenizer(), vocabulary, 4);
  ASSERT_EQ(matrix.rows, 4U);
  EXPECT_THAT(matrix.row(0), ElementsAre(3, 2, 2, 0));
  EXPECT_THAT(matrix.row(1), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(matrix.row(2), ElementsAre(2, 3, 1, 1));
  EXPECT_THAT(matrix.row(3), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(matrix.lengths, ElementsAre(3, 0, 4, 1));
}

TEST(TokenMatrix, OfNoTextsIsEmpty) {
  const auto matrix = build_token_matrix(0, nullptr, WordTokenizer(), Vocabulary::build({}));
  EXPECT_EQ(matrix.rows, 0U);
  EXPECT_EQ(matrix.max_words, 30U);
  EXPECT_TRUE(matrix.ids.empty());
}

TEST(TokenMatrix, DoesNotDependOnTheNumberOfThreads) {
  Texts texts;
  for (int i = 0; i < 5000; ++i)
    texts.rows.push_back("title " + std::to_string(i % 321) + " of " + std::to_string(i % 17));
  const auto vocabulary =
      Vocabulary::build(count_words(texts.rows.size(), texts.at(), WordTokenizer()), {.min_count = 16});
  const int threads = thread_count();
  set_thread_count(1);
  const auto serial = build_token_matrix(texts.rows.size(), texts.at(), WordTokenizer(), vocabulary);
  set_thread_count(5);
  const auto parallel = build_token_matrix(texts.rows.size(), texts.at(), WordTokenizer(), vocabulary);
  set_thread_count(threads);
  EXPECT_EQ(serial.ids, parallel.ids);
  EXPECT_EQ(serial.lengths, parallel.lengths);
}

TEST(TextSettings, AreSetThroughTheirTable) {
  TextSettings settings;
  SettingsTable table;
  settings.bind(table);
  ASSERT_TRUE(table.set("max_words", "12"));
  ASSERT_TRUE(table.set("split_hyphens", "true"));
  EXPECT_EQ(settings.max_words, 12);
  EXPECT_TRUE(settings.tokenizer.split_hyphens);
  EXPECT_FALSE(table.set("max_words", "0"));
}

}  // namespace
}  // namespace sotto::text
