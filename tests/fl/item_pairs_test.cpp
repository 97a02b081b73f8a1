// What devices send about their items has a known length, and what the server makes of the sum is what a
// plain decomposition of the exact matrix gives.

#include "fl/item_pairs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/distributions.h"
#include "base/random.h"
#include "model/tensor.h"

namespace sotto {
namespace {

using torch::Tensor;

double norm(const std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

// Distinct positions of each user, ascending; nobody has none.
std::vector<std::vector<std::uint32_t>> random_users(std::size_t users, std::uint32_t items) {
  SeededRandom random(5, Purpose::test);
  std::vector<std::vector<std::uint32_t>> all(users);
  for (std::size_t u = 0; u < users; ++u)
    for (std::uint32_t i = 0; i < items; ++i)
      if (i == u % items || uniform01(random) < (i % 2 == u % 2 ? 0.5 : 0.1)) all[u].push_back(i);
  return all;
}

std::vector<float> mean_pairs(const std::vector<std::vector<std::uint32_t>>& users, std::size_t items) {
  std::vector<float> mean(pair_count(items), 0);
  for (const auto& own : users) {
    const auto shares = pair_shares(own, items);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += shares[i] / static_cast<float>(users.size());
  }
  return mean;
}

// The mean of y yᵀ in the plainest way, [m, m].
Tensor exact_matrix(const std::vector<std::vector<std::uint32_t>>& users, std::int64_t items) {
  Tensor matrix = torch::zeros({items, items}, torch::kFloat64);
  for (const auto& own : users) {
    Tensor y = torch::zeros({items}, torch::kFloat64);
    for (const std::uint32_t item : own) y[item] = 1;
    y /= y.norm();
    matrix += torch::outer(y, y) / static_cast<double>(users.size());
  }
  return matrix;
}

TEST(ItemPairs, WhatADeviceSendsHasNormOneAndNoNegativeEntry) {
  for (const auto& own : random_users(30, 17)) {
    const auto pairs = pair_shares(own, 17);
    const auto counts = item_shares(std::vector<ItemId>(own.begin(), own.end()), 17);
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

TEST(ItemPairs, WithoutNoiseVectorsAreThoseOfAPlainDecomposition) {
  constexpr std::int64_t items = 20, size = 4;
  const auto users = random_users(200, items);
  const SpectrumSettings settings{size, 0.05};
  auto rows = vectors_from_pairs(mean_pairs(users, items), items, 0, settings);
  const Tensor found = torch::from_blob(rows.data(), {items, size}).to(torch::kFloat64);
  const auto [values, directions] = torch::linalg_eigh(exact_matrix(users, items));
  const Tensor w = values.narrow(0, items - size, size), e = directions.narrow(1, items - size, size);
  const Tensor expected = torch::mm(e * (w / (w + settings.ridge)), e.t());
  EXPECT_LT((torch::mm(found, found.t()) - expected).abs().max().item<double>(), 1e-5);
}

// Independent normal noise on every coordinate of the triangle.
std::vector<float> with_noise(std::vector<float> mean, double sigma) {
  SeededRandom random(6, Purpose::test);
  for (float& value : mean) value += static_cast<float>(sigma * normal(random));
  return mean;
}

std::size_t kept(const std::vector<float>& rows, std::size_t size) {
  std::size_t columns = 0;
  for (std::size_t k = 0; k < size; ++k) columns += rows[k] != 0 ? 1U : 0U;
  return columns;
}

TEST(ItemPairs, NoiseAloneGivesNoVectorAndUnderestimatedNoiseDoes) {
  constexpr std::size_t items = 150;
  const SpectrumSettings settings{40, 0.01};
  const auto noise = with_noise(std::vector<float>(pair_count(items), 0), 0.3);
  EXPECT_EQ(kept(vectors_from_pairs(noise, items, 0.3, settings), 40), 0U);
  EXPECT_GT(kept(vectors_from_pairs(noise, items, 0.15, settings), 40), 10U);
}

TEST(ItemPairs, WhatStandsOutOfTheNoiseIsFound) {
  // Two tastes; every user has half of the items of one.
  constexpr std::size_t items = 100;
  std::vector<std::vector<std::uint32_t>> users(400);
  SeededRandom random(7, Purpose::test);
  for (std::size_t u = 0; u < users.size(); ++u)
    for (std::uint32_t i = 0; i < items; ++i)
      if (i % 2 == u % 2 && uniform01(random) < 0.5) users[u].push_back(i);
  constexpr double sigma = 0.005;
  const SpectrumSettings settings{8, 0.01};
  const auto rows = vectors_from_pairs(with_noise(mean_pairs(users, items), sigma), items, sigma, settings);
  EXPECT_EQ(kept(rows, 8), 2U);
  double same = 0, other = 0;  // sums over all pairs of items of one taste, and of the two
  for (std::size_t a = 0; a < items; ++a)
    for (std::size_t b = a + 1; b < items; ++b)
      for (std::size_t k = 0; k < 8; ++k)
        (a % 2 == b % 2 ? same : other) += static_cast<double>(rows[a * 8 + k]) * rows[b * 8 + k];
  EXPECT_GT(same, 50 * std::abs(other));
}

TEST(ItemPairs, TheMostCountedItemsAreChosenEqualOnesByNumber) {
  const std::vector<float> counts = {0.5F, -1, 3, 0.5F, 2};
  EXPECT_EQ(most_counted(counts, 3), (std::vector<ItemId>{2, 4, 0}));
  EXPECT_EQ(most_counted(counts, 9).size(), 5U);
}

}  // namespace
}  // namespace sotto
