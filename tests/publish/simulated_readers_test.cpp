#include "publish/simulated_readers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fl/tiny_news.h"

namespace sotto::publish {
namespace {

TEST(SimulatedReaders, DemandCarriesTheNoiseOfItsBudget) {
  TempFolder folder;
  const data::Dataset dataset = sotto::fl::testing::tiny_news(folder);
  std::vector<std::uint32_t> group_of(10);
  for (std::size_t i = 0; i < 10; ++i) group_of[i] = i % 2;
  constexpr double epsilon = 0.5;
  constexpr int releases = 4000;
  double sum = 0, absolute = 0, squares = 0;
  for (int seed = 0; seed < releases; ++seed) {
    const double noise =
        noisy_group_counts(dataset, group_of, 2, epsilon,
                           privacy::NoiseOrigin::reproducible(static_cast<std::uint64_t>(seed)))
            .value()[0] -
        6;
    sum += noise, absolute += std::abs(noise), squares += noise * noise;
  }
  const double scale = 2 / epsilon;  // replacing a reader moves the counts by 2
  EXPECT_NEAR(sum / releases, 0, 4 * scale * std::sqrt(2.0 / releases));
  EXPECT_NEAR(absolute / releases, scale, 0.08 * scale);                     // Laplace: E|x| = b
  EXPECT_NEAR(squares / releases, 2 * scale * scale, 0.35 * scale * scale);  // and E x² = 2b²
}

TEST(SimulatedReaders, HistoriesFollowDemandAndAreNeverEmpty) {
  std::vector<std::uint32_t> group_of(1000);
  for (std::size_t i = 0; i < 1000; ++i) group_of[i] = i % 4;
  const std::vector<double> demand = {0.7, 0.1, 0.1, 0.1};
  ReaderSettings settings;
  settings.readers = 2000;
  double of_first = 0, all = 0;
  for (const auto& history : simulate_histories({group_of, demand}, settings, 3)) {
    ASSERT_GE(history.size(), 1U);
    ASSERT_LE(history.size(), 50U);
    for (const data::ItemId item : history) of_first += group_of[item] == 0 ? 1 : 0, all += 1;
  }
  EXPECT_NEAR(of_first / all, 0.7, 0.03);
}

}  // namespace
}  // namespace sotto::publish
