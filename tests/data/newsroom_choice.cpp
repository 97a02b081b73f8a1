// The choice model does what its formulas say.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/distributions.h"
#include "data/newsroom/reader.h"
#include "metrics/mean.h"
#include "newsroom_fixture.h"

namespace sotto::data::newsroom {
namespace {

TEST(NewsroomChoice, FirstClicksFollowTheSoftmaxOfUtilityAndPosition) {
  const std::vector<float> utilities{0.5F, 2.0F, 0.0F, 1.0F};
  const double bias = 0.7;
  std::vector<double> expected;
  for (std::size_t i = 0; i < utilities.size(); ++i)
    expected.push_back(std::exp(utilities[i] - bias * std::log(static_cast<double>(i + 1))));
  const double sum = std::accumulate(expected.begin(), expected.end(), 0.0);
  ClickDrawer draw(bias);
  SeededRandom random(5, Purpose::test);
  const int draws = 40'000;
  std::vector<int> counts(utilities.size(), 0);
  std::vector<std::uint8_t> clicked(utilities.size());
  for (int i = 0; i < draws; ++i) {
    draw(utilities, 1, random, clicked);
    for (std::size_t j = 0; j < clicked.size(); ++j) counts[j] += clicked[j];
  }
  for (std::size_t i = 0; i < utilities.size(); ++i)
    EXPECT_NEAR(static_cast<double>(counts[i]) / draws, expected[i] / sum, 0.01);  // 4 standard deviations
}

TEST(NewsroomChoice, PairsOfClicksArePlackettLuce) {
  const std::vector<float> utilities{1.0F, 0.0F, -1.0F};
  const double a = std::exp(1.0), b = 1.0, c = std::exp(-1.0), sum = a + b + c;
  const double both_first = a / sum * b / (b + c) + b / sum * a / (a + c);
  ClickDrawer draw(0);
  SeededRandom random(6, Purpose::test);
  std::vector<std::uint8_t> clicked(3);
  int together = 0;
  const int draws = 40'000;
  for (int i = 0; i < draws; ++i) {
    draw(utilities, 2, random, clicked);
    ASSERT_EQ(clicked[0] + clicked[1] + clicked[2], 2);
    together += clicked[0] & clicked[1];
  }
  EXPECT_NEAR(static_cast<double>(together) / draws, both_first, 0.01);
}

TEST(NewsroomChoice, ExtremeUtilitiesStillGiveExactlyTheAskedClicks) {
  const std::vector<float> utilities{1e6F, -1e6F, -1e6F, 1e6F};
  ClickDrawer draw(1);
  SeededRandom random(7, Purpose::test);
  std::vector<std::uint8_t> clicked(4);
  draw(utilities, 2, random, clicked);
  EXPECT_EQ(clicked, (std::vector<std::uint8_t>{1, 0, 0, 1}));
}

TEST(NewsroomChoice, OlderNewsAreLessPopularForThreeDays) {
  NewsroomSettings settings;
  settings.decay = 0.5;
  Item item;
  item.appeal = 1;
  EXPECT_FLOAT_EQ(popularity(settings, item, 0), 1.0F);
  EXPECT_FLOAT_EQ(popularity(settings, item, seconds_per_day), 0.5F);
  EXPECT_FLOAT_EQ(popularity(settings, item, 3 * seconds_per_day), -0.5F);
  EXPECT_FLOAT_EQ(popularity(settings, item, 30 * seconds_per_day), -0.5F);
}

// AUC of "higher in the list is better" over the test impressions.
double auc_of_position(const Simulated& newsroom) {
  metrics::ImpressionMetricsSum sum;
  for_each_impression(newsroom.chunks, [&](const ReaderChunk& chunk, const RecordedImpression& impression) {
    if (!impression.test) return;
    std::vector<float> scores(impression.shown_count);
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = -static_cast<float>(i);
    sum.add(metrics::impression_metrics(scores, chunk.clicked_in(impression)));
  });
  return sum.mean().mean.auc;
}

TEST(NewsroomChoice, PositionBiasIsInTheClicks) {
  NewsroomSettings settings = small_newsroom(2'000, 2'000);
  EXPECT_GT(auc_of_position(simulate(settings)), 0.53);
  settings.position_bias = 0;
  EXPECT_NEAR(auc_of_position(simulate(settings)), 0.5, 0.025);
}

TEST(NewsroomChoice, PositionIsNotInTheOracle) {
  // What the oracle says about an item is the same wherever the item stands: first and last do not differ.
  const Simulated newsroom = simulate(small_newsroom(2'000, 2'000));
  double first = 0, last = 0, impressions = 0;
  for_each_impression(newsroom.chunks, [&](const ReaderChunk& chunk, const RecordedImpression& impression) {
    if (!impression.test) return;
    const auto scores = chunk.scores_of(impression);
    first += scores.front().best;
    last += scores.back().best;
    impressions += 1;
  });
  EXPECT_NEAR(first / impressions, last / impressions, 0.1);
}

TEST(NewsroomShelf, FreshNewsAreDrawnMoreOften) {
  std::vector<Item> items(400);
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i].published = static_cast<Seconds>(i) * (4 * seconds_per_day / 400);
  Shelf shelf(items);
  SeededRandom random(8, Purpose::test);
  std::vector<std::uint32_t> drawn;
  int newest_hundred = 0, all = 0;
  for (int i = 0; i < 500; ++i) {
    shelf.draw(4 * seconds_per_day, 10, random, drawn);
    ASSERT_EQ(drawn.size(), 10U);
    for (const std::uint32_t item : drawn) newest_hundred += item >= 300 ? 1 : 0;
    all += 10;
  }
  // A day's hundred items are one scale: 1 - 1/e of the draws, of which the cut at four scales takes nothing.
  EXPECT_NEAR(static_cast<double>(newest_hundred) / all, 1 - std::exp(-1.0), 0.04);
}

TEST(NewsroomShelf, NeverOffersWhatWasReadUntilTheNextReader) {
  const std::vector<Item> items(30);
  Shelf shelf(items);
  SeededRandom random(9, Purpose::test);
  std::vector<std::uint32_t> drawn;
  for (std::uint32_t item = 0; item < 25; ++item) shelf.mark_read(item);
  shelf.draw(1, 20, random, drawn);
  for (const std::uint32_t item : drawn) EXPECT_GE(item, 25U);
  shelf.next_reader();
  bool offered = false;
  for (int i = 0; i < 10; ++i) {
    shelf.draw(1, 15, random, drawn);
    for (const std::uint32_t item : drawn) offered = offered || item < 25;
  }
  EXPECT_TRUE(offered);
}

}  // namespace
}  // namespace sotto::data::newsroom
