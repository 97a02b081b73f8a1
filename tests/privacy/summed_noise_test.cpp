// One draw from the law of a sum of shares has the law of so many shares added up.

#include "privacy/mechanisms/summed_noise.h"

#include <gtest/gtest.h>

#include "privacy/noise_statistics.h"

namespace sotto::privacy {
namespace {

constexpr std::size_t samples = 60'000;

NoiseShare share_of(ShareKind kind, double sigma_of_sum, std::uint64_t devices) {
  return NoiseShare::create(
             {.kind = kind, .central_sigma = sigma_of_sum, .l2_sensitivity = 1, .devices = devices})
      .value();
}

std::vector<std::int64_t> drawn_once(const NoiseShare& share, std::uint64_t shares) {
  SeededRandom random(3, Purpose::test);
  std::vector<std::int64_t> sum(samples, 0);
  SummedNoise::create(share, shares).value().add_to(sum, DeviceRandom::simulated(random));
  return sum;
}

std::vector<std::int64_t> share_by_share(const NoiseShare& share, std::uint64_t shares) {
  std::vector<std::int64_t> sum(samples, 0);
  for (std::uint32_t device = 0; device < shares; ++device) {
    SeededRandom random(5, Purpose::test, 0, device);
    share.add_to(sum, DeviceRandom::simulated(random));
  }
  return sum;
}

TEST(SummedNoise, OfSkellamSharesIsOneSkellamDrawOfTheirVariances) {
  // From far below one step per share to wide laws, and by the number that arrived, not by the number
  // planned.
  for (const double sigma : {0.7, 3.0, 900.0}) {
    const NoiseShare share = share_of(ShareKind::skellam, sigma, 10);
    for (const std::uint64_t arrived : {1U, 7U, 10U}) {
      const double variance = static_cast<double>(arrived) * share.share_variance();
      const SummedNoise noise = SummedNoise::create(share, arrived).value();
      EXPECT_EQ(noise.draws(), 1U);
      EXPECT_EQ(noise.variance(), variance);
      const auto sum = drawn_once(share, arrived);
      EXPECT_TRUE(statistics::fits(sum, statistics::skellam(variance), std::sqrt(variance)));
      EXPECT_TRUE(statistics::same_law(sum, share_by_share(share, arrived)));
    }
  }
}

TEST(SummedNoise, TheTestsSeeAMissingShareAHalvedOneAndAnotherLaw) {
  const NoiseShare share = share_of(ShareKind::skellam, 1.2, 10);
  const auto sum = drawn_once(share, 10);
  const double variance = 10 * share.share_variance(), sigma = std::sqrt(variance);
  EXPECT_FALSE(statistics::fits(sum, statistics::skellam(0.9 * variance), sigma));
  EXPECT_FALSE(statistics::fits(sum, statistics::skellam(0.5 * variance), sigma));
  EXPECT_FALSE(statistics::fits(sum, statistics::discrete_gaussian(sigma), sigma));
  EXPECT_FALSE(statistics::same_law(sum, share_by_share(share, 9)));
}

TEST(SummedNoise, DiscreteGaussianSharesAreDrawnOneByOne) {
  // Narrow shares, whose sum is visibly no discrete Gaussian.
  const NoiseShare share = share_of(ShareKind::discrete_gaussian, 1.6, 10);
  const SummedNoise noise = SummedNoise::create(share, 8).value();
  EXPECT_EQ(noise.draws(), 8U);
  EXPECT_NEAR(noise.variance(), 8 * share.share_variance(), 1e-9);
  EXPECT_TRUE(statistics::same_law(drawn_once(share, 8), share_by_share(share, 8)));
  EXPECT_FALSE(statistics::same_law(drawn_once(share, 8), share_by_share(share, 7)));
}

TEST(SummedNoise, ALawTooWideForOneSamplerIsDrawnInParts) {
  const double widest = largest_sigma * largest_sigma;
  const NoiseShare share = share_of(ShareKind::skellam, largest_sigma / std::sqrt(2.0) * std::sqrt(5.0), 5);
  const SummedNoise noise = SummedNoise::create(share, 5).value();
  EXPECT_EQ(noise.draws(), 3U) << "two, two and one";
  EXPECT_NEAR(noise.variance() / (2.5 * widest), 1, 1e-9);
  const auto sum = drawn_once(share, 5);
  const double sigma = std::sqrt(noise.variance());
  EXPECT_TRUE(statistics::fits(sum, statistics::rounded_gaussian(sigma), sigma));
}

TEST(SummedNoise, NoSharesAreRefused) {
  EXPECT_FALSE(SummedNoise::create(share_of(ShareKind::skellam, 3, 10), 0));
}

}  // namespace
}  // namespace sotto::privacy
