// Simulated float noise: the right laws, and closed forms with the law of the sum they replace.
#include <gtest/gtest.h>

#include "privacy/noise/simulated_noise.h"
#include "privacy/noise_statistics.h"

namespace sotto::privacy {
namespace {

constexpr std::size_t kMany = 200'000;
constexpr double kResolution = 1e4;  // floats are judged in steps of a ten-thousandth

std::vector<std::int64_t> in_steps(const std::vector<float>& values) {
  std::vector<std::int64_t> steps;
  steps.reserve(values.size());
  for (const float value : values)
    steps.push_back(static_cast<std::int64_t>(std::nearbyint(value * kResolution)));
  return steps;
}

std::vector<std::int64_t> gaussian(double sigma, std::uint64_t users, std::uint64_t seed) {
  SeededRandom random(seed, Purpose::noise);
  std::vector<float> values(kMany);
  EXPECT_TRUE(SimulatedNoise(random).add_gaussian(values, sigma, users).has_value());
  return in_steps(values);
}

std::vector<std::int64_t> laplace(double scale, std::uint64_t users, std::uint64_t seed) {
  SeededRandom random(seed, Purpose::noise);
  std::vector<float> values(kMany);
  EXPECT_TRUE(SimulatedNoise(random).add_laplace(values, scale, users).has_value());
  return in_steps(values);
}

TEST(SimulatedNoise, HasTheStatedLaws) {
  EXPECT_TRUE(statistics::fits(gaussian(1.0, 1, 1), statistics::rounded_gaussian(kResolution), kResolution));
  EXPECT_TRUE(statistics::fits(laplace(1.0, 1, 2), statistics::discrete_laplace(kResolution), kResolution));
}

TEST(SimulatedNoiseMutation, HalvedOrWrongNoiseIsRefused) {
  const auto law = statistics::rounded_gaussian(kResolution);
  EXPECT_FALSE(statistics::fits(std::vector<std::int64_t>(kMany, 0), law, kResolution));
  EXPECT_FALSE(statistics::fits(gaussian(0.5, 1, 3), law, kResolution));
  EXPECT_FALSE(statistics::fits(laplace(std::sqrt(0.5), 1, 4), law, kResolution));
}

TEST(SimulatedNoise, ClosedFormsHaveTheLawOfTheSumTheyReplace) {
  for (const std::uint64_t users : {2U, 5U, 30U}) {
    std::vector<std::int64_t> laplace_sum(kMany), gaussian_sum(kMany);
    for (std::uint64_t user = 0; user < users; ++user) {
      const auto one = laplace(1.0, 1, 100 + user), other = gaussian(1.0, 1, 200 + user);
      for (std::size_t i = 0; i < kMany; ++i) {
        laplace_sum[i] += one[i];
        gaussian_sum[i] += other[i];
      }
    }
    EXPECT_TRUE(statistics::same_law(laplace_sum, laplace(1.0, users, 5))) << users;
    EXPECT_TRUE(statistics::same_law(gaussian_sum, gaussian(1.0, users, 6))) << users;
    EXPECT_FALSE(statistics::same_law(laplace_sum, laplace(1.0, users + (users + 9) / 10, 7))) << users;
    // Equal variance, wrong law: visible while the sum is not yet normal.
    if (users < 10) {
      EXPECT_FALSE(statistics::same_law(laplace_sum, gaussian(std::sqrt(2.0), users, 8))) << users;
    }
  }
}

TEST(SimulatedNoise, IsReproducibleFromItsSeed) {
  EXPECT_EQ(laplace(0.3, 7, 42), laplace(0.3, 7, 42));
  EXPECT_NE(laplace(0.3, 7, 42), laplace(0.3, 7, 43));
}

TEST(SimulatedNoise, RefusesBadParameters) {
  SeededRandom random(1, Purpose::noise);
  SimulatedNoise noise(random);
  std::vector<float> values(3);
  EXPECT_FALSE(noise.add_gaussian(values, 0).has_value());
  EXPECT_FALSE(noise.add_laplace(values, std::nan("")).has_value());
  EXPECT_FALSE(noise.add_laplace(values, 1, 0).has_value());
  EXPECT_EQ(values, std::vector<float>(3));
}

}  // namespace
}  // namespace sotto::privacy
