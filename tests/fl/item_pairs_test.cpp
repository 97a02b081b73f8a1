// What devices send about their items has a known length, and the sum gives back the exact matrix.

#include <gtest/gtest.h>

#include <cmath>

#include "fl/pair_spectrum.h"
#include "fl/random_pairs.h"

namespace sotto::fl {
namespace {

using testing::exact_matrix;
using testing::mean_pairs;
using testing::random_users;
using torch::Tensor;

double norm(const std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

TEST(ItemPairs, WhatADeviceSendsHasNormOneAndNoNegativeEntry) {
  for (const auto& own : random_users(30, 17)) {
    const auto pairs = pair_shares(own, 17);
    const auto counts = item_shares(std::vector<data::ItemId>(own.begin(), own.end()), 17);
    EXPECT_EQ(pairs.size(), pair_count(17));
    EXPECT_NEAR(norm(pairs), 1, 1e-6);
    EXPECT_NEAR(norm(counts), 1, 1e-6);
    for (const auto* sent : {&pairs, &counts})
      for (const float value : *sent) EXPECT_GE(value, 0);
  }
}

TEST(ItemPairs, ADeviceWithoutChosenItemsSendsNothing) {
  EXPECT_EQ(norm(pair_shares({}, 5)), 0);
  EXPECT_EQ(norm(item_shares({}, 5)), 0);
}

TEST(ItemPairs, TheSumGivesBackWhoLikesWhatTogether) {
  const auto users = random_users(40, 9);
  const auto mean = mean_pairs(users, 9);
  const Tensor exact = exact_matrix(users, 9);
  std::size_t next = 0;
  for (std::int64_t i = 0; i < 9; ++i)
    for (std::int64_t j = i; j < 9; ++j, ++next)
      EXPECT_NEAR(mean[next] / (i == j ? 1 : std::sqrt(2.0)), exact[i][j].item<double>(), 1e-6);
  EXPECT_EQ(next, mean.size());
}

TEST(ItemPairs, TheMostCountedItemsAreChosenEqualOnesByNumber) {
  const std::vector<float> counts = {0.5F, -1, 3, 0.5F, 2};
  EXPECT_EQ(most_counted(counts, 3), (std::vector<data::ItemId>{2, 4, 0}));
  EXPECT_EQ(most_counted(counts, 9).size(), 5U);
}

}  // namespace
}  // namespace sotto::fl
