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

// Items of which nothing is known.
std::vector<double> plain(std::size_t items) {
  std::vector<double> kernel(items * items, 0);
  for (std::size_t i = 0; i < items; ++i) kernel[i * items + i] = 1;
  return kernel;
}

TEST(PairSpectrum, WithoutNoiseVectorsAreThoseOfAPlainDecomposition) {
  constexpr std::int64_t items = 20, size = 4;
  const auto users = random_users(200, items);
  const SpectrumSettings settings{size, 0.05};
  auto rows = vectors_from_pairs(mean_pairs(users, items), items, 0, settings, plain(items));
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
  EXPECT_EQ(kept(vectors_from_pairs(noise, items, 0.3, settings, plain(items)), 40), 0U);
  EXPECT_EQ(kept(vectors_from_pairs(noise, items, 0.15, settings, plain(items)), 40), 40U);
}

// The guess with a plain kernel: every entry by what there is beyond the noise, then decomposed.
TEST(PairSpectrum, WithoutKnowledgeAllEntriesAreHeldBackAlike) {
  constexpr std::int64_t items = 20, size = 20;
  constexpr double sigma = 0.01, ridge = 0.05;
  const auto noisy = with_noise(mean_pairs(random_users(200, items), items), sigma);
  auto rows = vectors_from_pairs(noisy, items, sigma, {size, ridge}, plain(items));
  const Tensor found = torch::from_blob(rows.data(), {items, size}).to(torch::kFloat64);
  Tensor matrix = torch::zeros({items, items}, torch::kFloat64);
  std::size_t next = 0;
  for (std::int64_t i = 0; i < items; ++i)
    for (std::int64_t j = i; j < items; ++j, ++next)
      matrix[i][j] = matrix[j][i] = noisy[next] / (i == j ? 1 : std::sqrt(2.0));
  const double entry = sigma * sigma / 2;  // variance off the diagonal
  const double beyond = matrix.square().sum().item<double>() - items * (items + 1) * entry;
  const double tau = beyond / (items * items);
  const auto [values, directions] = torch::linalg_eigh(matrix * (tau / (tau + entry)));
  const Tensor w = values.clamp_min(0);
  const Tensor expected = torch::mm(directions * (w / (w + ridge)), directions.t());
  EXPECT_LT((torch::mm(found, found.t()) - expected).abs().max().item<double>(), 1e-5);
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
  // How much of the guess by a kernel tells the two kinds apart: its cosine with the matrix that is 1 within
  // a kind and -1 between them.
  double told_apart(const std::vector<double>& kernel) const {
    const auto rows = vectors_from_pairs(noisy, items, sigma, {300, 1e6}, kernel);  // nearly linear
    double apart = 0, squares = 0;
    for (std::size_t a = 0; a < items; ++a)
      for (std::size_t b = 0; b < items; ++b) {
        double product = 0;
        for (std::size_t k = 0; k < 300; ++k)
          product += static_cast<double>(rows[a * 300 + k]) * rows[b * 300 + k];
        apart += a % 2 == b % 2 ? product : -product;
        squares += product * product;
      }
    return apart / (items * std::sqrt(squares));
  }
  static constexpr std::size_t items = 300;
  static constexpr double sigma = 0.003;
  std::vector<std::vector<std::uint32_t>> users = std::vector<std::vector<std::uint32_t>>(400);
  std::vector<float> noisy;
};

TEST(PairSpectrum, WhatItemsOfOneKindHaveInCommonStandsOutByAKernelThatKnowsTheKinds) {
  const TwoKinds news;
  const auto kinds = [&](std::size_t groups) {
    std::vector<double> kernel = plain(news.items);
    for (std::size_t a = 0; a < news.items; ++a)
      for (std::size_t b = 0; b < news.items; ++b)
        kernel[a * news.items + b] += a % groups == b % groups ? 2 : 0;
    return kernel;
  };
  const double unknown = news.told_apart(plain(news.items)), known = news.told_apart(kinds(2)),
               others = news.told_apart(kinds(3));
  EXPECT_GT(known, 2 * unknown);
  EXPECT_LT(others, 1.2 * unknown) << "kinds that nobody's taste follows";
}

}  // namespace
}  // namespace sotto::fl
