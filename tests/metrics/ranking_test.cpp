#include "metrics/ranking.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/distributions.h"
#include "metrics/ranking_reference.h"

namespace sotto::metrics {
namespace {

using Clicks = std::vector<std::uint8_t>;
constexpr double tolerance = 1e-12;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// Property tests draw the same cases on every run; set RC_PARAMS to explore others.
[[maybe_unused]] const int properties_are_seeded = setenv("RC_PARAMS", "seed=2024 max_success=500", 0);

void expect_near(const ImpressionMetrics& actual, const ImpressionMetrics& expected) {
  EXPECT_NEAR(actual.auc, expected.auc, tolerance);
  EXPECT_NEAR(actual.mrr, expected.mrr, tolerance);
  EXPECT_NEAR(actual.ndcg5, expected.ndcg5, tolerance);
  EXPECT_NEAR(actual.ndcg10, expected.ndcg10, tolerance);
}

TEST(ImpressionMetrics, AgreeWithAWorkedExample) {
  // Order by score: click, no, click, no.
  const auto metrics = impression_metrics(std::vector<float>{0.9F, 0.1F, 0.5F, 0.7F}, Clicks{1, 0, 1, 0});
  ASSERT_TRUE(metrics);
  EXPECT_NEAR(metrics->auc, 3.0 / 4.0, tolerance);
  EXPECT_NEAR(metrics->mrr, (1.0 + 1.0 / 3.0) / 2.0, tolerance);
  const double ndcg = (1.0 + 0.5) / (1.0 + 1.0 / std::log2(3.0));
  EXPECT_NEAR(metrics->ndcg5, ndcg, tolerance);
  EXPECT_NEAR(metrics->ndcg10, ndcg, tolerance);
}

RC_GTEST_PROP(ImpressionMetrics, EqualTheMeanOverAllOrdersOfTiedItems, ()) {
  // Few distinct scores, so that most inputs have ties; at most 7 items, so that all orders can be tried.
  const auto n = *rc::gen::inRange<std::size_t>(2, 8);
  const auto levels = *rc::gen::container<std::vector<int>>(n, rc::gen::inRange(-2, 3));
  auto clicked = *rc::gen::container<Clicks>(n, rc::gen::element<std::uint8_t>(0, 1));
  clicked[0] = 1;
  clicked[1] = 0;
  std::vector<float> scores(levels.begin(), levels.end());
  for (float& score : scores) score *= 0.5F;
  const auto actual = impression_metrics(scores, clicked);
  RC_ASSERT(actual.has_value());
  const auto expected = reference::impression_metrics(scores, clicked);
  RC_ASSERT(std::abs(actual->auc - expected.auc) < tolerance);
  RC_ASSERT(std::abs(actual->mrr - expected.mrr) < tolerance);
  RC_ASSERT(std::abs(actual->ndcg5 - expected.ndcg5) < tolerance);
  RC_ASSERT(std::abs(actual->ndcg10 - expected.ndcg10) < tolerance);
}

TEST(ImpressionMetrics, CountPairsLikeThePairwiseDefinitionOnLongLists) {
  SeededRandom random(11, Purpose::test);
  for (int round = 0; round < 50; ++round) {
    const std::size_t n = 2 + uniform_below(random, 400);
    std::vector<float> scores(n);
    Clicks clicked(n);
    for (std::size_t i = 0; i < n; ++i) {
      scores[i] = static_cast<float>(uniform_below(random, 60)) - 30.0F;
      clicked[i] = bernoulli(random, 0.2) ? 1 : 0;
    }
    clicked[0] = 1;
    clicked[1] = 0;
    const auto metrics = impression_metrics(scores, clicked);
    ASSERT_TRUE(metrics);
    EXPECT_NEAR(metrics->auc, reference::pairwise_auc(scores, clicked), tolerance);
  }
}

TEST(ImpressionMetrics, WithoutTiesOnLongListsFollowTheOrder) {
  SeededRandom random(12, Purpose::test);
  for (int round = 0; round < 50; ++round) {
    const std::size_t n = 2 + uniform_below(random, 300);
    std::vector<float> scores(n);
    std::vector<int> gains(n);
    for (std::size_t i = 0; i < n; ++i) {
      scores[i] = -static_cast<float>(i);
      gains[i] = bernoulli(random, 0.1) ? 1 : 0;
    }
    gains[0] = 0;
    gains[n - 1] = 1;
    std::vector<std::size_t> position(n);
    std::iota(position.begin(), position.end(), std::size_t{0});
    shuffle(std::span(position), random);
    std::vector<float> shuffled_scores(n);
    Clicks clicked(n);
    for (std::size_t i = 0; i < n; ++i) {
      shuffled_scores[position[i]] = scores[i];
      clicked[position[i]] = static_cast<std::uint8_t>(gains[i]);
    }
    const auto metrics = impression_metrics(shuffled_scores, clicked);
    ASSERT_TRUE(metrics);
    expect_near(*metrics, reference::of_order(gains));
  }
}

TEST(ImpressionMetrics, AllTiedGiveTheExpectationOfARandomOrder) {
  const std::size_t n = 25;
  const std::vector<float> scores(n, 3.5F);
  Clicks clicked(n, 0);
  clicked[24] = 1;
  const auto metrics = impression_metrics(scores, clicked);
  ASSERT_TRUE(metrics);
  double harmonic = 0, discounts5 = 0;
  for (std::size_t rank = 1; rank <= n; ++rank) harmonic += 1.0 / static_cast<double>(rank);
  for (std::size_t rank = 1; rank <= 5; ++rank) discounts5 += 1.0 / std::log2(static_cast<double>(rank) + 1);
  EXPECT_DOUBLE_EQ(metrics->auc, 0.5);
  EXPECT_NEAR(metrics->mrr, harmonic / 25, tolerance);
  EXPECT_NEAR(metrics->ndcg5, discounts5 / 25, tolerance);
}

TEST(ImpressionMetrics, ArePerfectAtMostOne) {
  for (std::size_t clicks = 1; clicks <= 40; ++clicks) {
    std::vector<float> scores(clicks + 5);
    Clicks clicked(scores.size(), 0);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      scores[i] = -static_cast<float>(i);
      clicked[i] = i < clicks ? 1 : 0;
    }
    const auto metrics = impression_metrics(scores, clicked);
    ASSERT_TRUE(metrics);
    EXPECT_EQ(metrics->auc, 1.0);
    EXPECT_LE(metrics->ndcg5, 1.0);
    EXPECT_LE(metrics->ndcg10, 1.0);
    EXPECT_NEAR(metrics->ndcg5, 1.0, tolerance);
    EXPECT_NEAR(metrics->ndcg10, 1.0, tolerance);
  }
}

TEST(ImpressionMetrics, AcceptCutoffsLongerThanTheList) {
  const auto metrics = impression_metrics(std::vector<float>{1, 2}, Clicks{1, 0});
  ASSERT_TRUE(metrics);
  EXPECT_NEAR(metrics->ndcg10, 1.0 / std::log2(3.0), tolerance);
  EXPECT_EQ(metrics->auc, 0.0);
}

TEST(ImpressionMetrics, TreatZeroAndMinusZeroAsTied) {
  const auto metrics = impression_metrics(std::vector<float>{-0.0F, 0.0F}, Clicks{1, 0});
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->auc, 0.5);
}

TEST(ImpressionMetrics, OrderInfinitiesAndExtremeFloats) {
  const std::vector<float> scores = {
      -infinity, std::numeric_limits<float>::lowest(),     -std::numeric_limits<float>::denorm_min(),
      0,         std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max(),
      infinity};
  for (std::size_t target = 0; target < scores.size(); ++target) {
    Clicks clicked(scores.size(), 0);
    clicked[target] = 1;
    const auto metrics = impression_metrics(scores, clicked);
    ASSERT_TRUE(metrics);
    EXPECT_NEAR(metrics->auc, static_cast<double>(target) / 6.0, tolerance);
    EXPECT_NEAR(metrics->mrr, 1.0 / static_cast<double>(7 - target), tolerance);
  }
  const auto tied = impression_metrics(std::vector<float>{infinity, infinity, -infinity}, Clicks{1, 0, 0});
  ASSERT_TRUE(tied);
  EXPECT_NEAR(tied->auc, 0.75, tolerance);
}

TEST(ImpressionMetrics, HaveNoValueWithoutAnOrderToJudge) {
  EXPECT_FALSE(impression_metrics(std::vector<float>{}, Clicks{}));
  EXPECT_FALSE(impression_metrics(std::vector<float>{1, 2}, Clicks{0, 0}));
  EXPECT_FALSE(impression_metrics(std::vector<float>{1, 2}, Clicks{1, 1}));
  EXPECT_FALSE(impression_metrics(std::vector<float>{1}, Clicks{1}));
}

TEST(ImpressionMetrics, HaveNoValueWhenAnyScoreIsNaN) {
  EXPECT_FALSE(impression_metrics(std::vector<float>{1, nan, 0}, Clicks{1, 0, 0}));
  EXPECT_FALSE(impression_metrics(std::vector<float>{nan, nan}, Clicks{1, 0}));
  EXPECT_TRUE(impression_metrics(std::vector<float>{1, 2, 0}, Clicks{1, 0, 0}));  // scratch is not poisoned
}

TEST(HeldOutMetrics, OfAClearRankAreAStep) {
  const auto at_rank_7 = held_out_metrics(6, 0);
  EXPECT_EQ(at_rank_7.hits[0], 0.0);
  EXPECT_EQ(at_rank_7.hits[1], 1.0);
  EXPECT_NEAR(at_rank_7.ndcg[1], 1.0 / 3.0, tolerance);
  const auto beyond_all = held_out_metrics(30, 1000);
  for (int c = 0; c < 4; ++c) EXPECT_EQ(beyond_all.hits[c] + beyond_all.ndcg[c], 0.0);
}

TEST(HeldOutMetrics, SpreadATiedItemOverItsRanks) {
  const auto metrics = held_out_metrics(3, 3);  // ranks 4, 5, 6, 7
  EXPECT_NEAR(metrics.hits[0], 0.5, tolerance);
  EXPECT_NEAR(metrics.ndcg[0], (1 / std::log2(5.0) + 1 / std::log2(6.0)) / 4, tolerance);
  EXPECT_NEAR(metrics.hits[1], 1.0, tolerance);
}

RC_GTEST_PROP(HeldOutMetrics, OverACatalogueEqualTheSlowDefinition, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 60);
  const auto levels = *rc::gen::container<std::vector<int>>(n, rc::gen::inRange(-6, 7));
  const auto excluded = *rc::gen::container<Clicks>(n, rc::gen::element<std::uint8_t>(0, 0, 1));
  const auto held_out = *rc::gen::container<std::vector<std::uint32_t>>(
      rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(n)));
  std::vector<float> scores(levels.begin(), levels.end());
  const auto actual = held_out_metrics(scores, excluded, held_out);
  const auto expected = reference::held_out_metrics(scores, excluded, held_out);
  for (int c = 0; c < 4; ++c) {
    RC_ASSERT(std::abs(actual.hits[c] - expected.hits[c]) < tolerance);
    RC_ASSERT(std::abs(actual.ndcg[c] - expected.ndcg[c]) < tolerance);
  }
}

TEST(HeldOutMetrics, WithoutHeldOutItemsAreZero) {
  const auto metrics = held_out_metrics(std::vector<float>{1, 2}, Clicks{0, 0}, std::vector<std::uint32_t>{});
  for (int c = 0; c < 4; ++c) EXPECT_EQ(metrics.hits[c], 0.0);
}

TEST(HeldOutMetrics, NeverProfitFromNaN) {
  const std::vector<std::uint32_t> held_out = {0};
  const auto target_unscored = held_out_metrics(std::vector<float>{nan, 1, 2}, Clicks{1, 0, 0}, held_out);
  EXPECT_EQ(target_unscored.hits[3], 0.0);
  std::vector<float> scores(7, nan);
  scores[0] = infinity;
  const auto rivals_unscored = held_out_metrics(scores, Clicks(7, 0), held_out);
  EXPECT_EQ(rivals_unscored.hits[0], 0.0);  // six rivals rank above
  EXPECT_EQ(rivals_unscored.hits[1], 1.0);
}

TEST(TopListMetrics, AgreeWithAWorkedExample) {
  // 30 items, best first. Items 0 and 1 are known and not ranked: item i has rank i - 1.
  std::vector<float> scores(30);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = -static_cast<float>(i);
  std::vector<std::uint8_t> known(30, 0);
  known[0] = known[1] = 1;
  // Ranks 1, 3 and 22: the first two push nobody out, the last is beyond 20.
  const auto metrics = top_list_metrics(scores, known, std::vector<std::uint32_t>{2, 4, 23});
  EXPECT_NEAR(metrics.recall, 2.0 / 3.0, tolerance);
  EXPECT_NEAR(metrics.ndcg, (1 + 0.5) / (1 + 1 / std::log2(3.0) + 0.5), tolerance);
}

TEST(TopListMetrics, WantedItemsTakeEachOthersPlacesAndTiesAreAveraged) {
  // 40 equal scores: every item is in the best 20 half of the time, wanted or not.
  const std::vector<float> scores(40, 1.0F);
  const std::vector<std::uint8_t> known(40, 0);
  std::vector<std::uint32_t> wanted(25);
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<std::uint32_t>(i);
  const auto metrics = top_list_metrics(scores, known, wanted);
  EXPECT_NEAR(metrics.recall, 0.5, tolerance);
  // 25 wanted among 40 in each of the 20 places, and at best all 20.
  EXPECT_NEAR(metrics.ndcg, 25.0 / 40.0, tolerance);
  // More wanted items than places: even the best order reaches 20 of 25.
  std::vector<float> best(40, 0.0F);
  std::fill(best.begin(), best.begin() + 25, 1.0F);
  EXPECT_NEAR(top_list_metrics(best, known, wanted).recall, 20.0 / 25.0, tolerance);
  EXPECT_NEAR(top_list_metrics(best, known, wanted).ndcg, 1.0, tolerance);
}

TEST(TopListMetrics, ANaNIsNeverInOurFavour) {
  std::vector<float> scores(25, nan);
  scores[24] = 1;
  const std::vector<std::uint8_t> known(25, 0);
  EXPECT_EQ(top_list_metrics(scores, known, std::vector<std::uint32_t>{24}).recall, 0);
  EXPECT_EQ(top_list_metrics(scores, known, std::vector<std::uint32_t>{3}).recall, 0);
}

}  // namespace
}  // namespace sotto::metrics
