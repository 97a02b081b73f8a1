// How a device ranks by public item vectors.

#include "local/vector_ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sotto::local {
namespace {

struct Small {
  // Items 0 to 3 have vectors, 4 and 5 have none.
  std::vector<float> counts = {0.3F, 0.9F, 0.5F, 0.4F, -0.1F, 0.2F};
  std::vector<float> vectors = {1, 0, 0.8F, 0.1F, -0.5F, 1, -1, -1, 0, 0, 0, 0};
  VectorRanking ranking(const RankingWeights& weights) const { return {counts, vectors, weights}; }
  std::vector<ItemRow> ranked(const std::vector<ItemRow>& history, double again,
                              double popularity = 0) const {
    const auto scores = ranking({.popularity = popularity, .again = again}).scores(history);
    std::vector<ItemRow> order(scores.size());
    std::iota(order.begin(), order.end(), ItemRow{0});
    std::sort(order.begin(), order.end(), [&](ItemRow a, ItemRow b) { return scores[a] > scores[b]; });
    return order;
  }
};

TEST(VectorRanking, ScoresAreProductsWithTheNormalisedHistory) {
  const Small small;
  const auto scores = small.ranking({}).scores(std::vector<ItemRow>{0, 2, 2});
  const double length = std::sqrt(2.0);
  EXPECT_NEAR(scores[0], 0.5 / length,
              1e-4);  // (1, 0) · (0.5, 1): an item counts once, however often it was used
  EXPECT_NEAR(scores[1], 0.5 / length, 1e-4);
  EXPECT_NEAR(scores[2], 0.75 / length, 1e-4);
  EXPECT_NEAR(scores[3], -1.5 / length, 1e-4);
}

TEST(VectorRanking, WhatIsRareAndWhatIsOnlyKnownWeighAsAsked) {
  const auto scores =
      Small().ranking({.low = 0.6, .rare = 0.5}).scores(std::vector<ItemRow>{1}, std::vector<ItemRow>{0, 5});
  // Counts are 0.9 and 0.3, the most is 0.9; item 5 has no vector.
  const double known = 0.6 * std::sqrt(3.0), length = std::hypot(1, known);
  EXPECT_NEAR(scores[0], (0.8 + known) / length, 1e-4);
  EXPECT_NEAR(scores[2], (0.8 * -0.5 + 0.1 + known * -0.5) / length, 1e-4);
}

TEST(VectorRanking, AnEmptyHistoryIsRankedByCountsAndItemsWithoutVectorsComeLast) {
  EXPECT_EQ(Small().ranked({}, 10), (std::vector<ItemRow>{1, 2, 3, 0, 5, 4}));
}

TEST(VectorRanking, ItemsWithoutVectorsStandBelowDislikedOnes) {
  EXPECT_EQ(Small().ranked({0}, 0), (std::vector<ItemRow>{0, 1, 2, 3, 5, 4}));
}

TEST(VectorRanking, WhatWasUsedOftenComesFirstWhenAskedFor) {
  const Small small;
  EXPECT_EQ(small.ranked({4, 4, 3}, 10)[0], 4U);
  EXPECT_EQ(small.ranked({4, 4, 3}, 10)[1], 3U);
  EXPECT_EQ(small.ranked({4, 4, 3}, 0).back(), 4U);
  const auto lifted = small.ranking({.again = 10}).scores(std::vector<ItemRow>{3, 3});
  const auto plain = small.ranking({}).scores(std::vector<ItemRow>{3, 3});
  EXPECT_NEAR(lifted[3] - plain[3], 10 * std::log(3.0), 1e-4);
}

TEST(VectorRanking, PopularityAddsTheCounts) {
  const Small small;
  const std::vector<ItemRow> history = {0, 2, 4};
  const auto plain = small.ranking({}).scores(history);
  const auto popular = small.ranking({.popularity = 3}).scores(history);
  EXPECT_NEAR(popular[0] - plain[0], 3 * 0.3, 1e-5);
  EXPECT_NEAR(popular[1] - plain[1], 3 * 0.9, 1e-5);
  EXPECT_EQ(small.ranked({0}, 0)[0], 0U);
  EXPECT_EQ(small.ranked({0}, 0, 3)[0], 1U);
}

TEST(VectorRanking, ItemsWithoutVectorsStayLastHoweverPopularTheyAre) {
  Small small;
  small.counts[5] = 100;
  EXPECT_EQ(small.ranked({0}, 0, 100)[4], 5U);
}

TEST(VectorRanking, WithoutAnyVectorCountsDecide) {
  Small small;
  small.vectors.assign(12, 0);
  EXPECT_EQ(small.ranked({0, 3}, 0), (std::vector<ItemRow>{1, 2, 3, 0, 5, 4}));
}

}  // namespace
}  // namespace sotto::local
