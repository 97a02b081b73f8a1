// The four laws on the grid: right law, right scale, same samples from every kernel, same law as the exact
// reference.
#include <gtest/gtest.h>

#include "privacy/noise/binned_sampler.h"
#include "privacy/noise/grid_noise.h"
#include "privacy/noise/reference_samplers.h"
#include "privacy/noise_statistics.h"

namespace sotto::privacy {
namespace {

using statistics::fits;
using statistics::same_law;
constexpr std::size_t many = 400'000;

std::vector<std::int64_t> draw(const GridNoise& noise, std::uint32_t seed, std::size_t count = many) {
  SeededRandom random(seed, Purpose::test);
  std::vector<std::int64_t> samples(count);
  noise.fill(std::span(samples), random);
  return samples;
}

template <class Sampler>
std::vector<std::int64_t> draw_slowly(std::size_t count, std::uint32_t seed, Sampler sampler) {
  SeededRandom random(seed, Purpose::test);
  std::vector<std::int64_t> samples(count);
  for (std::int64_t& sample : samples) sample = sampler(random);
  return samples;
}

TEST(NoiseSamplers, DiscreteGaussianFollowsItsLawAtEveryScale) {
  for (const double sigma : {0.25, 0.5, 1.0, 2.5, 40.0, 75.8, 1000.0, 31'337.5, 1e6, 2'000'000.0}) {
    const auto noise = DiscreteGaussian::create(sigma).value();
    EXPECT_TRUE(fits(draw(noise, 1), statistics::discrete_gaussian(noise.sigma()), noise.sigma())) << sigma;
  }
}

TEST(NoiseSamplers, RoundedGaussianFollowsItsLawAtEveryScale) {
  for (const double sigma : {1024.0, 30'000.0, 1e6}) {
    const auto noise = RoundedGaussian::create(sigma).value();
    EXPECT_TRUE(fits(draw(noise, 2), statistics::rounded_gaussian(noise.sigma()), noise.sigma())) << sigma;
  }
}

TEST(NoiseSamplers, DiscreteLaplaceFollowsItsLawAtEveryScale) {
  for (const double scale : {0.0625, 0.3, 1.0, 7.0, 85.0, 1000.0, 1e6}) {
    const auto noise = DiscreteLaplace::create(scale).value();
    EXPECT_TRUE(fits(draw(noise, 3), statistics::discrete_laplace(noise.scale()), noise.scale())) << scale;
  }
}

TEST(NoiseSamplers, SkellamFollowsItsLawAtEveryScale) {
  for (const double variance : {1.0 / 1024, 0.1, 1.0, 10.0, 5e3, 1e6, 1e8, 1e12}) {
    const auto noise = Skellam::create(variance).value();
    EXPECT_TRUE(fits(draw(noise, 4), statistics::skellam(noise.variance()), std::sqrt(noise.variance())))
        << variance;
  }
}

TEST(NoiseSamplers, ManyMillionsOfSamplesStillFit) {
  const auto gaussian = DiscreteGaussian::create(5000).value();
  EXPECT_TRUE(fits(draw(gaussian, 5, 10'000'000), statistics::discrete_gaussian(gaussian.sigma()), 5000));
  const auto laplace = DiscreteLaplace::create(5000).value();
  EXPECT_TRUE(fits(draw(laplace, 6, 10'000'000), statistics::discrete_laplace(laplace.scale()), 5000));
}

TEST(NoiseSamplers, LaplaceTailBeyondTheTableIsGeometric) {
  const auto noise = DiscreteLaplace::create(20).value();
  std::vector<std::int64_t> beyond;  // beyond 12 scales, seen from there
  for (const std::int64_t x : draw(noise, 7, 20'000'000)) {
    if (x >= 245) beyond.push_back(x - 245);
    if (x <= -246) beyond.push_back(x + 245);
  }
  ASSERT_GT(beyond.size(), 50U);
  const double expected = 2e7 * std::exp(-245.0 / 20);
  EXPECT_NEAR(static_cast<double>(beyond.size()), expected, 5 * std::sqrt(expected));
  EXPECT_TRUE(fits(beyond, statistics::discrete_laplace(20), 20));
}

// The proof that these tests can fail: the same judgement refuses every way in which noise goes wrong.
TEST(NoiseSamplersMutation, MissingHalvedOrWrongNoiseIsRefused) {
  const double sigma = 1000;
  const auto gaussian_law = statistics::discrete_gaussian(sigma);
  auto missing = std::vector<std::int64_t>(many, 0);
  EXPECT_FALSE(fits(missing, gaussian_law, sigma));
  EXPECT_FALSE(fits(draw(DiscreteGaussian::create(sigma / 2).value(), 8), gaussian_law, sigma));
  EXPECT_FALSE(fits(draw(DiscreteGaussian::create(sigma * 0.98).value(), 9), gaussian_law, sigma));
  EXPECT_FALSE(fits(draw(DiscreteLaplace::create(sigma / std::sqrt(2.0)).value(), 10), gaussian_law, sigma));
  auto shifted = draw(DiscreteGaussian::create(sigma).value(), 11);
  for (std::int64_t& x : shifted) x += 20;
  EXPECT_FALSE(fits(shifted, gaussian_law, sigma));

  EXPECT_FALSE(
      fits(draw(DiscreteLaplace::create(500).value(), 12), statistics::discrete_laplace(1000), 1000));
  EXPECT_FALSE(fits(draw(DiscreteGaussian::create(std::sqrt(2.0) * 1000).value(), 13),
                    statistics::discrete_laplace(1000), 1000));
  EXPECT_FALSE(fits(draw(Skellam::create(2.0).value(), 14), statistics::skellam(1.0), 1));
  EXPECT_FALSE(fits(draw(DiscreteGaussian::create(1.0).value(), 15), statistics::skellam(1.0), 1));
}

TEST(NoiseSamplers, EveryKernelGivesTheSameSamples) {
  const auto law = [](int which) -> std::shared_ptr<const LatticeLaw> {
    if (which == 0) return std::make_shared<DiscreteGaussianLaw>(1e10);
    if (which == 1) return std::make_shared<DiscreteLaplaceLaw>(3.5);
    return std::make_shared<SkellamLaw>(1e6);
  };
  for (int which = 0; which < 3; ++which) {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{7}, std::size_t{1023}, std::size_t{100'003}}) {
      std::vector<std::int32_t> slow(count), fast(count);
      SeededRandom random(99, Purpose::test);
      BinnedSampler(law(which), SamplerKernel::scalar).fill(std::span(slow), random);
      for (const SamplerKernel kernel : {SamplerKernel::avx2, SamplerKernel::avx512}) {
        if (!supported(kernel)) continue;
        SeededRandom again(99, Purpose::test);
        BinnedSampler(law(which), kernel).fill(std::span(fast), again);
        EXPECT_EQ(slow, fast);
      }
    }
  }
}

TEST(NoiseSamplers, WideAndNarrowFillAgree) {
  const auto noise = Skellam::create(12'345.5).value();
  std::vector<std::int32_t> narrow(5000);
  std::vector<std::int64_t> wide(5000);
  SeededRandom first(1, Purpose::test), second(1, Purpose::test);
  noise.fill(std::span(narrow), first);
  noise.fill(std::span(wide), second);
  EXPECT_TRUE(std::equal(narrow.begin(), narrow.end(), wide.begin()));
}

TEST(NoiseSamplers, FastGaussianHasTheLawOfTheExactReference) {
  for (const std::uint64_t numerator : {300ULL, 1024ULL, 70'000ULL, 1024ULL * 1'000'000}) {
    const auto noise = DiscreteGaussian::create(std::sqrt(static_cast<double>(numerator) / 1024)).value();
    const auto exact = draw_slowly(60'000, 21, [&](RandomSource& random) {
      return reference::discrete_gaussian({numerator, 1024}, random);
    });
    EXPECT_TRUE(same_law(draw(noise, 22, exact.size()), exact)) << numerator;
    const auto narrower = DiscreteGaussian::create(0.93 * noise.sigma() + 0.01).value();
    EXPECT_FALSE(same_law(draw(narrower, 23, exact.size()), exact)) << numerator;
  }
}

TEST(NoiseSamplers, FastLaplaceHasTheLawOfTheExactReference) {
  for (const std::uint64_t numerator : {200ULL, 1024ULL, 55'555ULL, 1024ULL * 100'000}) {
    const auto noise = DiscreteLaplace::create(static_cast<double>(numerator) / 1024).value();
    const auto exact = draw_slowly(100'000, 24, [&](RandomSource& random) {
      return reference::discrete_laplace({numerator, 1024}, random);
    });
    EXPECT_TRUE(same_law(draw(noise, 25, exact.size()), exact)) << numerator;
    const auto narrower = DiscreteLaplace::create(0.93 * noise.scale()).value();
    EXPECT_FALSE(same_law(draw(narrower, 26, exact.size()), exact)) << numerator;
  }
}

TEST(NoiseSamplers, FastSkellamHasTheLawOfTheExactReference) {
  for (const std::uint64_t numerator : {500ULL, 3'000ULL, 40'000ULL}) {
    const auto noise = Skellam::create(static_cast<double>(numerator) / 1024).value();
    const auto exact = draw_slowly(40'000, 27, [&](RandomSource& random) {
      return reference::skellam({numerator, 1024}, random);
    });
    EXPECT_TRUE(same_law(draw(noise, 28, exact.size()), exact)) << numerator;
    const auto narrower = Skellam::create(0.8 * noise.variance()).value();
    EXPECT_FALSE(same_law(draw(narrower, 29, exact.size()), exact)) << numerator;
  }
}

TEST(NoiseSamplers, SkellamSharesAddUpToTheirSum) {
  const auto share = Skellam::create(4).value(), whole = Skellam::create(40).value();
  std::vector<std::int64_t> sum(many);
  for (std::uint32_t device = 0; device < 10; ++device) {
    const auto part = draw(share, 100 + device);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  }
  EXPECT_TRUE(fits(sum, statistics::skellam(whole.variance()), std::sqrt(40.0)));
}

TEST(NoiseSamplers, SecureGeneratorGivesTheSameLaw) {
  // Unseeded on purpose: fails once in a million runs by design.
  const auto noise = DiscreteGaussian::create(777).value();
  SecureRandom random;
  std::vector<std::int64_t> samples(many);
  noise.fill(std::span(samples), random);
  EXPECT_TRUE(fits(samples, statistics::discrete_gaussian(noise.sigma()), 777));
}

TEST(NoiseSamplers, StatedVarianceIsTheVarianceOfTheLaw) {
  EXPECT_NEAR(DiscreteGaussian::create(50).value().variance(), 2500, 1e-9);
  EXPECT_NEAR(RoundedGaussian::create(2000).value().variance(), 4e6 + 1.0 / 12, 1e-6);
  EXPECT_NEAR(DiscreteLaplace::create(1).value().variance(), 2 * std::exp(-1) / std::pow(1 - std::exp(-1), 2),
              1e-12);
  for (const double sigma : {0.25, 0.5, 1.0, 3.0}) {
    const auto noise = DiscreteGaussian::create(sigma).value();
    double squares = 0;
    for (const std::int64_t x : draw(noise, 30)) squares += static_cast<double>(x * x);
    const double error = 6 * std::sqrt(3 * noise.variance() * (noise.variance() + 1) / many);
    EXPECT_NEAR(squares / many, noise.variance(), error);
  }
}

TEST(NoiseSamplers, ParametersAreRoundedUpNeverDown) {
  EXPECT_GE(DiscreteGaussian::create(1.2345).value().sigma(), 1.2345);
  EXPECT_LT(DiscreteGaussian::create(1.2345).value().sigma(), 1.2355);
  EXPECT_GE(DiscreteLaplace::create(0.33333).value().scale(), 0.33333);
  EXPECT_GE(Skellam::create(7.77777).value().variance(), 7.77777);
}

}  // namespace
}  // namespace sotto::privacy
