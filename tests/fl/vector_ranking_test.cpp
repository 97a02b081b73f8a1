// How a device ranks by public item vectors.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/interactions/item_vectors.h"

namespace sotto::fl {
namespace {

struct Small {
  // Items 0 to 3 have vectors, 4 and 5 have none.
  Small() : model(6, 2) {
    const torch::NoGradGuard no_grad;
    model.counts.copy_(torch::tensor({0.3F, 0.9F, 0.5F, 0.4F, -0.1F, 0.2F}));
    model.vectors.narrow(0, 0, 4).copy_(
        torch::tensor({{1.0F, 0.0F}, {0.8F, 0.1F}, {-0.5F, 1.0F}, {-1.0F, -1.0F}}));
  }
  std::vector<data::ItemId> ranked(const std::vector<data::ItemId>& history, double again,
                                   double popularity = 0) const {
    const auto scores =
        model::VectorRanking(model, {.popularity = popularity, .again = again}).scores(history);
    std::vector<data::ItemId> order(scores.size());
    std::iota(order.begin(), order.end(), data::ItemId{0});
    std::sort(order.begin(), order.end(),
              [&](data::ItemId a, data::ItemId b) { return scores[a] > scores[b]; });
    return order;
  }
  model::ItemVectors model;
};

TEST(VectorRanking, ScoresAreProductsWithTheNormalisedHistory) {
  const Small small;
  const auto scores = model::VectorRanking(small.model, {}).scores(std::vector<data::ItemId>{0, 2, 2});
  const double length = std::sqrt(2.0);
  EXPECT_NEAR(scores[0], 0.5 / length,
              1e-4);  // (1, 0) · (0.5, 1): an item counts once, however often it was used
  EXPECT_NEAR(scores[1], 0.5 / length, 1e-4);
  EXPECT_NEAR(scores[2], 0.75 / length, 1e-4);
  EXPECT_NEAR(scores[3], -1.5 / length, 1e-4);
}

TEST(VectorRanking, WhatIsRareAndWhatIsOnlyKnownWeighAsAsked) {
  const Small small;
  const model::RankingWeights weights{.low = 0.6, .rare = 0.5};
  const auto scores = model::VectorRanking(small.model, weights)
                          .scores(std::vector<data::ItemId>{1}, std::vector<data::ItemId>{0, 5});
  // Counts are 0.9 and 0.3, the most is 0.9; item 5 has no vector.
  const double known = 0.6 * std::sqrt(3.0), length = std::hypot(1, known);
  EXPECT_NEAR(scores[0], (0.8 + known) / length, 1e-4);
  EXPECT_NEAR(scores[2], (0.8 * -0.5 + 0.1 + known * -0.5) / length, 1e-4);
}

TEST(VectorRanking, AnEmptyHistoryIsRankedByCountsAndItemsWithoutVectorsComeLast) {
  EXPECT_EQ(Small().ranked({}, 10), (std::vector<data::ItemId>{1, 2, 3, 0, 5, 4}));
}

TEST(VectorRanking, ItemsWithoutVectorsStandBelowDislikedOnes) {
  EXPECT_EQ(Small().ranked({0}, 0), (std::vector<data::ItemId>{0, 1, 2, 3, 5, 4}));
}

TEST(VectorRanking, WhatWasUsedOftenComesFirstWhenAskedFor) {
  const Small small;
  EXPECT_EQ(small.ranked({4, 4, 3}, 10)[0], 4U);
  EXPECT_EQ(small.ranked({4, 4, 3}, 10)[1], 3U);
  EXPECT_EQ(small.ranked({4, 4, 3}, 0).back(), 4U);
  const auto lifted =
      model::VectorRanking(small.model, {.again = 10}).scores(std::vector<data::ItemId>{3, 3});
  const auto plain = model::VectorRanking(small.model, {}).scores(std::vector<data::ItemId>{3, 3});
  EXPECT_NEAR(lifted[3] - plain[3], 10 * std::log(3.0), 1e-4);
}

TEST(VectorRanking, PopularityAddsTheCounts) {
  const Small small;
  const std::vector<data::ItemId> history = {0, 2, 4};
  const auto plain = model::VectorRanking(small.model, {}).scores(history);
  const auto popular = model::VectorRanking(small.model, {.popularity = 3}).scores(history);
  EXPECT_NEAR(popular[0] - plain[0], 3 * 0.3, 1e-5);
  EXPECT_NEAR(popular[1] - plain[1], 3 * 0.9, 1e-5);
  EXPECT_EQ(small.ranked({0}, 0)[0], 0U);
  EXPECT_EQ(small.ranked({0}, 0, 3)[0], 1U);
}

TEST(VectorRanking, ItemsWithoutVectorsStayLastHoweverPopularTheyAre) {
  const Small small;
  {
    const torch::NoGradGuard no_grad;
    small.model.counts.data()[5] = 100;
  }
  EXPECT_EQ(small.ranked({0}, 0, 100)[4], 5U);
}

TEST(VectorRanking, WithoutAnyVectorCountsDecide) {
  const Small small;
  {
    const torch::NoGradGuard no_grad;
    small.model.vectors.data().zero_();
  }
  EXPECT_EQ(small.ranked({0, 3}, 0), (std::vector<data::ItemId>{1, 2, 3, 0, 5, 4}));
}

}  // namespace
}  // namespace sotto::fl
