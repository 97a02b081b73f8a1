// Item vectors from words are the truncated singular value decomposition they claim to be, also for items
// that were not there when they were made.

#include "model/news/word_space.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/distributions.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "test_paths.h"

namespace sotto::model {
namespace {

using torch::Tensor;

constexpr std::size_t vocabulary = 62;

// Items of four themes with 15 words each; some words are shared by all.
ItemFeatures themed_items(std::size_t count, std::uint64_t seed) {
  ItemFeatures items;
  items.titles.offsets = items.abstracts.offsets = {0};
  SeededRandom random(seed, Purpose::test);
  for (std::size_t item = 0; item < count; ++item) {
    const auto theme = static_cast<std::int32_t>(item % 4);
    const auto write = [&](ItemText& text, int words) {
      for (int i = 0; i < words; ++i) {
        const auto word = static_cast<std::int32_t>(uniform_below(random, 15));
        const bool stray = bernoulli(random, 0.2);
        text.tokens.push_back(2 + word + 15 * (stray ? 3 - theme : theme));
      }
      text.offsets.push_back(static_cast<std::int64_t>(text.tokens.size()));
    };
    write(items.titles, 5);
    write(items.abstracts, 9);
  }
  return items;
}

WordSpace space_of(const ItemFeatures& items, std::int64_t size, std::uint64_t seed = 1) {
  auto space = WordSpace::of_items(items, vocabulary, {.size = size, .least_items = 2, .seed = seed});
  EXPECT_TRUE(space) << space.error().message;
  return std::move(*space);
}

// The definition, by a dense decomposition.
Tensor by_definition(const ItemFeatures& items, std::int64_t size) {
  const TermMatrix terms(items, word_weights(items, vocabulary, 2));
  const Tensor dense = terms.times(torch::eye(vocabulary, torch::kFloat64));
  const auto [u, s, v] = torch::linalg_svd(dense, false);
  const Tensor vectors = u.narrow(1, 0, size) * s.narrow(0, 0, size).sqrt();
  return vectors / vectors.pow(2).sum(1).mean().sqrt();
}

// Of 60,000 articles it takes seconds, in which training said nothing.
TEST(WordSpace, HasABarAndEndsAtCtrlC) {
  const ItemFeatures items = themed_items(120, 1);
  set_progress_style(ProgressStyle::bar);
  ::testing::internal::CaptureStderr();
  space_of(items, 4);
  const std::string shown = ::testing::internal::GetCapturedStderr();
  set_progress_style(ProgressStyle::automatic);
  EXPECT_NE(shown.find("finding what words mean"), std::string::npos) << shown;
  EXPECT_NE(shown.find("100%"), std::string::npos) << shown;
  set_interrupted(true);
  const auto stopped = WordSpace::of_items(items, vocabulary, {.size = 4, .least_items = 2, .seed = 1});
  set_interrupted(false);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::failed);
}

TEST(WordSpace, VectorsAreTheTruncatedDecomposition) {
  const ItemFeatures items = themed_items(120, 1);
  const Tensor vectors = space_of(items, 4).vectors_of(items).to(torch::kFloat64),
               expected = by_definition(items, 4);
  // Signs are free: products of items are not.
  EXPECT_TRUE(torch::allclose(vectors.matmul(vectors.t()), expected.matmul(expected.t()), 1e-3, 1e-4));
  EXPECT_NEAR(vectors.pow(2).sum(1).mean().item<double>(), 1, 1e-4);
}

TEST(WordSpace, HardlyDependsOnTheFirstGuess) {
  const ItemFeatures items = themed_items(120, 1);
  const Tensor a = space_of(items, 4, 1).vectors_of(items), b = space_of(items, 4, 2).vectors_of(items);
  EXPECT_TRUE(torch::allclose(a, b, 1e-2, 1e-3)) << "signs included";
}

TEST(WordSpace, AnItemPublishedLaterLiesWithItsTheme) {
  const WordSpace space = space_of(themed_items(120, 1), 4);
  const ItemFeatures later = themed_items(8, 99);
  const Tensor vectors = space.vectors_of(later), products = vectors.matmul(vectors.t());
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t other = 0; other < 4; ++other) {
      if (other == i) continue;
      EXPECT_GT(products[i][i + 4].item<float>(), products[i][other + 4].item<float>()) << i << other;
    }
  }
}

TEST(WordSpace, ItemsWithoutKnownWordsAreTheZeroVector) {
  const WordSpace space = space_of(themed_items(120, 1), 4);
  ItemFeatures blank;
  blank.titles.tokens = {text::Vocabulary::unknown};
  blank.titles.offsets = {0, 0, 1};
  EXPECT_EQ(space.vectors_of(blank).abs().sum().item<float>(), 0);
  EXPECT_EQ(space.vectors_of(blank).size(0), 2);
}

TEST(WordSpace, SurvivesTheDiskAndRefusesOtherVocabulariesAndDamage) {
  const TempFolder folder;
  const ItemFeatures items = themed_items(60, 1);
  const WordSpace space = space_of(items, 3);
  ASSERT_TRUE(space.save(folder / "words.sotto"));
  const auto loaded = WordSpace::load(folder / "words.sotto", vocabulary);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(torch::equal(loaded->vectors_of(items), space.vectors_of(items)));
  const auto other = WordSpace::load(folder / "words.sotto", vocabulary + 1);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("vocabulary"), std::string::npos) << other.error().message;
  std::ofstream(folder / "words.sotto", std::ios::app) << "x";
  EXPECT_FALSE(WordSpace::load(folder / "words.sotto", 0));
}

TEST(WordSpace, AsksForMoreTextWhereWordsSpanTooLittle) {
  const auto refused = WordSpace::of_items(themed_items(3, 1), vocabulary, {.size = 4, .least_items = 1});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("of 3 items span"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("and 4 are asked for: set vector_size to"), std::string::npos)
      << refused.error().message;
}

TEST(WordSpace, SaysHowManyDimensionsTheWordsSpan) {
  const auto spanned = [](std::int64_t asked) {
    return WordSpace::of_items(themed_items(60, 1), vocabulary, {.size = asked, .least_items = 1});
  };
  std::int64_t most = 0;
  while (spanned(most + 1)) ++most;
  ASSERT_GT(most, 3);
  for (const std::int64_t asked : {most + 1, most + 20})
    EXPECT_NE(spanned(asked).error().message.find(fmt::format("set vector_size to {} or less", most)),
              std::string::npos)
        << spanned(asked).error().message;
}

TEST(TermMatrix, RowsHaveLengthOneAndRareWordsCountMore) {
  ItemFeatures items;
  items.titles.tokens = {2, 3, 2, 4, 2, 3, 5};
  items.titles.offsets = {0, 2, 4, 7};
  const auto weights = word_weights(items, 6, 1);
  EXPECT_EQ(weights[2], 0) << "a word that every item has tells none apart";
  EXPECT_GT(weights[4], weights[3]);
  EXPECT_EQ(word_weights(items, 6, 2)[4], 0) << "too rare";
  const Tensor rows = TermMatrix(items, weights).times(torch::eye(6, torch::kFloat64));
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_NEAR(rows[i].norm().item<double>(), 1, 1e-6);
  const Tensor back = TermMatrix(items, weights).transposed_times(torch::eye(3, torch::kFloat64));
  EXPECT_TRUE(torch::equal(rows.t(), back));
}

}  // namespace
}  // namespace sotto::model
