#include "data/unseen_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace sotto::data {
namespace {

using Draw = void (UnseenItems::*)(std::size_t, std::span<std::uint8_t>, RandomSource&,
                                   std::vector<ItemId>&) const;

// Probability of drawing `first`, then `second`, by definition.
double probability(const std::vector<std::uint64_t>& weights, const std::vector<std::uint8_t>& marks,
                   ItemId first, ItemId second) {
  double left = 0;
  for (std::size_t item = 0; item < weights.size(); ++item)
    left += marks[item] ? 0 : static_cast<double>(weights[item]);
  const auto weight = [&](ItemId item) { return static_cast<double>(weights[item]); };
  return weight(first) / left * weight(second) / (left - weight(first));
}

// Both ways of drawing against the definition, pair by pair; five standard deviations at fixed seeds.
TEST(UnseenItems, BothWaysOfDrawingFollowTheWeights) {
  const std::vector<std::uint64_t> weights = {5, 1, 0, 3, 2, 4};
  const std::vector<std::uint8_t> marks = {0, 0, 0, 0, 1, 0};
  const UnseenItems items(weights);
  constexpr int draws = 60'000;
  for (const Draw draw : {&UnseenItems::draw, &UnseenItems::draw_by_scan}) {
    SeededRandom random(5, Purpose::test);
    std::map<std::pair<ItemId, ItemId>, int> times;
    for (int round = 0; round < draws; ++round) {
      std::vector<std::uint8_t> current = marks;
      std::vector<ItemId> out;
      (items.*draw)(2, current, random, out);
      ASSERT_EQ(out.size(), 2U);
      ++times[{out[0], out[1]}];
    }
    EXPECT_EQ(times.size(), 12U);
    for (const auto& [pair, count] : times) {
      const double p = probability(weights, marks, pair.first, pair.second);
      EXPECT_NEAR(count, p * draws, 5 * std::sqrt(draws * p * (1 - p))) << pair.first << ' ' << pair.second;
    }
  }
}

TEST(UnseenItems, FallsBackWhenNearlyAllWeightIsMarked) {
  // The marked item holds all but a millionth of the weight.
  std::vector<std::uint64_t> weights(5, 1);
  weights[0] = 4'000'000;
  std::vector<std::uint8_t> marks(5, 0);
  marks[0] = 1;
  SeededRandom random(6, Purpose::test);
  std::vector<ItemId> out = {99};
  UnseenItems(weights).draw(3, marks, random, out);
  ASSERT_EQ(out.size(), 4U);
  EXPECT_EQ(out[0], 99U);
  EXPECT_EQ(std::set<ItemId>(out.begin(), out.end()).size(), 4U);
  EXPECT_EQ(std::count(out.begin(), out.end(), 0U), 0);
  for (std::size_t place = 1; place < out.size(); ++place) EXPECT_EQ(marks[out[place]], 1);
}

TEST(UnseenItems, GivesWhatThereIsWhenTooLittleIsLeft) {
  const std::vector<std::uint64_t> weights = {1, 1, 0, 1};
  std::vector<std::uint8_t> marks = {0, 1, 0, 0};
  SeededRandom random(7, Purpose::test);
  std::vector<ItemId> out;
  UnseenItems(weights).draw(10, marks, random, out);
  std::sort(out.begin(), out.end());
  EXPECT_THAT(out, ::testing::ElementsAre(0U, 3U));
  out.clear();
  UnseenItems(weights).draw(10, marks, random, out);
  EXPECT_THAT(out, ::testing::IsEmpty());
}

}  // namespace
}  // namespace sotto::data
