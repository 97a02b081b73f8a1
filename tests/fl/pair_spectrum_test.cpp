// What the server makes of the noisy sum of pairs is what a plain decomposition of the exact matrix gives.

#include "fl/pair_spectrum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fl/random_pairs.h"

namespace sotto::fl {
namespace {

using testing::exact_matrix;
using testing::mean_pairs;
using testing::random_users;
using torch::Tensor;

TEST(PairSpectrum, WithoutNoiseVectorsAreThoseOfAPlainDecomposition) {
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

TEST(PairSpectrum, NoiseAloneGivesNoVectorAndUnderestimatedNoiseDoes) {
  constexpr std::size_t items = 150;
  const SpectrumSettings settings{40, 0.01};
  const auto noise = with_noise(std::vector<float>(local::pair_count(items), 0), 0.3);
  EXPECT_EQ(kept(vectors_from_pairs(noise, items, 0.3, settings), 40), 0U);
  EXPECT_GT(kept(vectors_from_pairs(noise, items, 0.15, settings), 40), 10U);
}

TEST(PairSpectrum, WhatStandsOutOfTheNoiseIsFound) {
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

// Items of `groups` kinds, as one column per kind.
FeatureColumns kinds(std::size_t items, std::size_t groups) {
  FeatureColumns columns{std::vector<float>(items * groups, 0), groups};
  for (std::size_t i = 0; i < items; ++i) columns.values[i * groups + i % groups] = 1;
  return columns;
}

// 300 items of two kinds; two thirds of a user's items are of one. Nothing else is there to find.
struct TwoKinds {
  TwoKinds() {
    SeededRandom random(8, Purpose::test);
    for (std::size_t u = 0; u < users.size(); ++u)
      for (std::uint32_t i = 0; i < items; ++i)
        if (uniform01(random) < (i % 2 == u % 2 ? 0.1 : 0.05)) users[u].push_back(i);
    noisy = with_noise(mean_pairs(users, items), sigma);
  }
  // Mean of v_a · v_b over pairs of one kind, less that over pairs of two.
  double told_apart(const std::vector<float>& rows) const {
    double same = 0, other = 0;
    for (std::size_t a = 0; a < items; ++a)
      for (std::size_t b = a + 1; b < items; ++b)
        for (std::size_t k = 0; k < 8; ++k)
          (a % 2 == b % 2 ? same : other) += static_cast<double>(rows[a * 8 + k]) * rows[b * 8 + k];
    return (same - other) / (items * items / 4.0);
  }
  static constexpr std::size_t items = 300;
  static constexpr double sigma = 0.004;
  std::vector<std::vector<std::uint32_t>> users = std::vector<std::vector<std::uint32_t>>(400);
  std::vector<float> noisy;
};

TEST(PairSpectrum, FeaturesFindWhatNoiseHidesFromSingleItems) {
  const TwoKinds news;
  const SpectrumSettings settings{8, 0.01};
  const auto without = vectors_from_pairs(news.noisy, news.items, news.sigma, settings);
  const auto with = vectors_from_pairs(news.noisy, news.items, news.sigma, settings, kinds(news.items, 2));
  EXPECT_EQ(kept(without, 8), 1U) << "what everybody likes";
  EXPECT_GT(kept(with, 8), 1U);
  EXPECT_LT(std::abs(news.told_apart(without)), 1e-4);
  EXPECT_GT(news.told_apart(with), 1e-3);
}

TEST(PairSpectrum, FeaturesThatSayNothingFindNothing) {
  constexpr std::size_t items = 150;
  const auto noise = with_noise(std::vector<float>(local::pair_count(items), 0), 0.3);
  EXPECT_EQ(kept(vectors_from_pairs(noise, items, 0.3, {40, 0.01}, kinds(items, 30)), 40), 0U);
  // Kinds that nobody's taste follows.
  const TwoKinds news;
  const auto rows = vectors_from_pairs(news.noisy, news.items, news.sigma, {8, 0.01}, kinds(news.items, 3));
  EXPECT_LT(std::abs(news.told_apart(rows)), 1e-4);
}

TEST(PairSpectrum, ADirectionIsFoundOnce) {
  // Without noise everything stands out: directions of the features are beside those of the items.
  constexpr std::int64_t items = 20;
  const auto users = random_users(200, items);
  auto rows = vectors_from_pairs(mean_pairs(users, items), items, 0, {10, 0}, kinds(items, 5));
  const Tensor found = torch::from_blob(rows.data(), {items, 10}).to(torch::kFloat64);
  EXPECT_LT((torch::mm(found.t(), found) - torch::eye(10, torch::kFloat64)).abs().max().item<double>(), 1e-5);
}

TEST(PairSpectrum, FeaturesBesideWhichNothingIsLeftAddNothing) {
  constexpr std::int64_t items = 6;
  const auto mean = mean_pairs(random_users(50, items), items);
  EXPECT_EQ(kept(vectors_from_pairs(mean, items, 0, {9, 0}, kinds(items, 2)), 9), 6U);
  const FeatureColumns blank{std::vector<float>(items, 0), 1};
  EXPECT_EQ(kept(vectors_from_pairs(mean, items, 0.02, {9, 0}, blank), 9),
            kept(vectors_from_pairs(mean, items, 0.02, {9, 0}), 9));
}

}  // namespace
}  // namespace sotto::fl
