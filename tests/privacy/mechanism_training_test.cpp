// What training uses: clipping, the clipped mean, the moving bound, noise shares, item selection.
#include <gtest/gtest.h>

#include <map>

#include "base/distributions.h"
#include "privacy/mechanisms/adaptive_clip.h"
#include "privacy/mechanisms/clipping.h"
#include "privacy/mechanisms/noise_share.h"
#include "privacy/mechanisms/partition_selection.h"
#include "privacy/noise_statistics.h"

namespace sotto::privacy {
namespace {

using statistics::fits;

long double l2_of(const std::vector<double>& values) {
  long double squares = 0;
  for (const double value : values) squares += static_cast<long double>(value) * value;
  return std::sqrt(squares);
}

TEST(Clipping, NormsNeverExceedTheBoundNotEvenByRounding) {
  SeededRandom random(1, Purpose::test);
  for (const std::size_t length : {1U, 3U, 1000U}) {
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<double> values(length);
      for (double& value : values) value = normal(random) * std::pow(10.0, trial % 7 - 3);
      auto l1 = values;
      ASSERT_TRUE(clip_l2(values, 0.7).has_value());
      EXPECT_LE(l2_of(values), 0.7L);
      ASSERT_TRUE(clip_l1(l1, 0.7).has_value());
      long double sum = 0;
      for (const double value : l1) sum += std::fabs(static_cast<long double>(value));
      EXPECT_LE(sum, 0.7L);
    }
  }
}

TEST(Clipping, LeavesShortVectorsAloneAndKeepsDirections) {
  std::vector<double> inside{0.3, -0.4}, outside{30, -40}, huge{1e300, 1e300}, tiny{1e-300, 0};
  EXPECT_NEAR(clip_l2(inside, 1).value(), 0.5, 1e-15);
  EXPECT_EQ(inside, (std::vector<double>{0.3, -0.4}));
  EXPECT_NEAR(clip_l2(outside, 1).value(), 50, 1e-12);
  EXPECT_NEAR(outside[0], 0.6, 1e-12);
  EXPECT_NEAR(outside[1], -0.8, 1e-12);
  EXPECT_TRUE(clip_l2(huge, 1).has_value());
  EXPECT_NEAR(huge[0], std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(clip_l2(tiny, 1).value() / 1e-300, 1, 1e-12);
}

TEST(Clipping, RefusesVectorsThatNoScalingBringsBack) {
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    std::vector<double> values{1, bad};
    EXPECT_FALSE(clip_l2(values, 1).has_value());
    EXPECT_FALSE(clip_l1(values, 1).has_value());
    EXPECT_FALSE(clip_coordinates(values, 1).has_value());
  }
}

ClippedMean::Settings mean_settings(Adjacency adjacency) {
  return {.clip = 2, .noise_multiplier = 1.1, .dimension = 20, .denominator = 100, .adjacency = adjacency};
}

TEST(ClippedMean, NoiseIsCalibratedToTheAdjacency) {
  for (const Adjacency adjacency : {Adjacency::add_remove, Adjacency::replace_one}) {
    const auto mechanism = ClippedMean::create(mean_settings(adjacency)).value();
    const double sigma = 1.1 * 2 * (adjacency == Adjacency::replace_one ? 2 : 1);
    EXPECT_NEAR(mechanism.sigma_of_mean(), sigma / 100, 1e-5 * sigma);
    SeededRandom random(2, Purpose::test);
    std::vector<std::int64_t> noise, half;
    for (int i = 0; i < 5000; ++i) {
      const auto released = mechanism.release(mechanism.empty_sum(), DeviceRandom::simulated(random)).value();
      for (const std::int64_t x : released.steps) {
        noise.push_back(x);
        half.push_back(x / 2);
      }
    }
    const double steps = sigma / mechanism.empty_sum().step;
    const auto law = statistics::rounded_gaussian(steps);
    EXPECT_TRUE(fits(noise, law, steps));
    EXPECT_FALSE(fits(half, law, steps));
    EXPECT_FALSE(fits(std::vector<std::int64_t>(noise.size()), law, steps));
    EXPECT_FALSE(fits(noise, statistics::discrete_laplace(steps / std::sqrt(2.0)), steps));
    EXPECT_EQ(std::get<GaussianNoise>(mechanism.event().mechanism).noise_multiplier, 1.1);
    EXPECT_EQ(mechanism.event().adjacency, adjacency);
  }
}

TEST(ClippedMean, DividesByTheFixedNumberWhoeverComes) {
  const auto mechanism = ClippedMean::create(mean_settings(Adjacency::add_remove)).value();
  GridVector sum = mechanism.empty_sum();
  std::vector<double> update(20);
  update[3] = 1.5;
  for (int user = 0; user < 10; ++user) {
    ASSERT_TRUE(mechanism.accumulate(sum, mechanism.contribution(update).value()).has_value());
  }
  EXPECT_NEAR(mechanism.mean(sum)[3], 10 * 1.5 / 100, 1e-4);
}

TEST(ClippedMean, RefusesContributionsThatWereNotClipped) {
  const auto mechanism = ClippedMean::create(mean_settings(Adjacency::add_remove)).value();
  GridVector sum = mechanism.empty_sum();
  GridVector forged = mechanism.contribution(std::vector<double>(20, 100.0)).value();
  ASSERT_TRUE(mechanism.accumulate(sum, forged).has_value());
  for (std::int64_t& x : forged.steps) x *= 2;
  EXPECT_FALSE(mechanism.accumulate(sum, forged).has_value());
  GridVector other_grid = mechanism.empty_sum();
  other_grid.step *= 2;
  EXPECT_FALSE(mechanism.accumulate(sum, other_grid).has_value());
}

AdaptiveClip::Settings clip_settings(GuaranteeMode mode) {
  return {.mode = mode,
          .initial_bound = 40,
          .smallest_bound = 1,
          .quantile = 0.9,
          .rate = 1,
          .budget_share = mode == GuaranteeMode::paper ? 0.7 : 0.05,
          .noise_multiplier = 1,
          .cohort = 30,
          .server_rate = 0.5};
}

TEST(AdaptiveClip, FractionCarriesTheStatedNoise) {
  for (const GuaranteeMode mode : {GuaranteeMode::paper, GuaranteeMode::sound}) {
    auto clip = AdaptiveClip::create(clip_settings(mode)).value();
    const double sigma = mode == GuaranteeMode::paper ? 2 / std::sqrt(0.7) / 30 : 1 / std::sqrt(0.05) / 30;
    SeededRandom random(3, Purpose::test);
    std::vector<std::int64_t> noise, half;
    for (int i = 0; i < 100'000; ++i) {
      const double fraction = clip.step(27, DeviceRandom::simulated(random)).value();
      noise.push_back(static_cast<std::int64_t>(std::nearbyint((fraction - 0.9) / sigma * 1e4)));
      half.push_back(noise.back() / 2);
    }
    EXPECT_TRUE(fits(noise, statistics::rounded_gaussian(1e4), 1e4));
    EXPECT_FALSE(fits(half, statistics::rounded_gaussian(1e4), 1e4));
    EXPECT_FALSE(fits(noise, statistics::discrete_laplace(1e4 / std::sqrt(2.0)), 1e4));
  }
}

TEST(AdaptiveClip, StatesTheMultiplierOfTheWholeRound) {
  const auto sound = AdaptiveClip::create(clip_settings(GuaranteeMode::sound)).value();
  EXPECT_NEAR(std::get<GaussianNoise>(sound.round_event().mechanism).noise_multiplier, 1, 1e-12);
  const auto paper = AdaptiveClip::create(clip_settings(GuaranteeMode::paper)).value();
  // update: z/(α₃√0.3) = 3.651, fraction: 2z/√0.7 = 2.390
  EXPECT_NEAR(std::get<GaussianNoise>(paper.round_event().mechanism).noise_multiplier, 2.0, 1e-3);
  EXPECT_NEAR(paper.update_sigma(), 2 * 40 * 1 / 30.0 / std::sqrt(0.3), 1e-12);
}

TEST(AdaptiveClip, BoundMovesTowardsTheQuantileAndStopsAtTheFloor) {
  auto clip = AdaptiveClip::create(clip_settings(GuaranteeMode::sound)).value();
  SeededRandom random(4, Purpose::test);
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(clip.step(0, DeviceRandom::simulated(random)).has_value());
  EXPECT_GT(clip.bound(), 1000);
  for (int i = 0; i < 200'000 && clip.bound() > 1; ++i)
    ASSERT_TRUE(clip.step(30, DeviceRandom::simulated(random)).has_value());
  EXPECT_EQ(clip.bound(), 1);
}

TEST(JointClipBit, StaysWithinTheJointBoundAndTellsTheFraction) {
  const auto joint = JointClipBit::create(3, 0.5).value();
  const double joint_bound = std::sqrt(9 + 0.0625);
  double bits = 0;
  for (int user = 0; user < 10; ++user) {
    const std::vector<double> update{user < 7 ? 1.0 : 100.0, 0.0};
    const auto extended = joint.extend(update).value();
    ASSERT_EQ(extended.size(), 3U);
    EXPECT_LE(l2_of(extended), joint_bound);
    bits += extended.back();
  }
  EXPECT_NEAR(joint.fraction(bits, 10), 0.7, 1e-12);
}

NoiseShare::Settings share_settings(ShareKind kind) {
  return {.kind = kind,
          .central_sigma = 50,
          .l2_sensitivity = 20,
          .dimension = 1000,
          .devices = 20,
          .dropped = 4,
          .corrupted = 6};
}

std::vector<std::int64_t> sum_of_shares(const NoiseShare& share, int devices, std::uint64_t seed) {
  std::vector<std::int64_t> sum(100'000);
  for (int device = 0; device < devices; ++device) {
    SeededRandom random(seed, Purpose::test, 0, static_cast<std::uint32_t>(device));
    share.add_to(sum, DeviceRandom::simulated(random));
  }
  return sum;
}

TEST(NoiseShare, DevicesThatSurelyRemainCarryThePromisedNoise) {
  for (const ShareKind kind : {ShareKind::skellam, ShareKind::discrete_gaussian}) {
    const auto share = NoiseShare::create(share_settings(kind)).value();
    EXPECT_EQ(share.surely_present(), 10U);
    const auto law =
        kind == ShareKind::skellam ? statistics::skellam(2500) : statistics::rounded_gaussian(50);
    EXPECT_TRUE(fits(sum_of_shares(share, 10, 1), law, 50));
    // One share short, or shares sized for all twenty, is refused.
    EXPECT_FALSE(fits(sum_of_shares(share, 9, 2), law, 50));
    auto careless = share_settings(kind);
    careless.dropped = careless.corrupted = 0;
    EXPECT_FALSE(fits(sum_of_shares(NoiseShare::create(careless).value(), 10, 3), law, 50));
    EXPECT_FALSE(fits(std::vector<std::int64_t>(100'000), law, 50));
    EXPECT_FALSE(fits(sum_of_shares(share, 10, 1), statistics::discrete_laplace(50 / std::sqrt(2.0)), 50));
  }
}

TEST(NoiseShare, EventCountsOnlyTheSharesThatSurelyRemain) {
  const auto skellam = NoiseShare::create(share_settings(ShareKind::skellam)).value();
  const auto s = std::get<SkellamNoise>(skellam.event().mechanism);
  EXPECT_NEAR(s.variance, 2500, 0.1);
  EXPECT_GE(s.variance, 2500);
  EXPECT_EQ(s.l1_sensitivity, 400);  // 20², below √1000·20
  const auto gaussian = NoiseShare::create(share_settings(ShareKind::discrete_gaussian)).value();
  const auto g = std::get<DiscreteGaussianNoise>(gaussian.event().mechanism);
  EXPECT_EQ(g.summands, 10U);
  EXPECT_NEAR(g.sigma, std::sqrt(250.0), 1e-3);
  EXPECT_TRUE(validate(skellam.event()).has_value());
  EXPECT_TRUE(validate(gaussian.event()).has_value());
}

TEST(PartitionSelection, CapKeepsARandomSubset) {
  SeededRandom random(5, Purpose::test);
  const std::vector<std::uint32_t> items{9, 3, 3, 7, 1, 9};
  std::vector<std::uint64_t> kept;
  for (int i = 0; i < 20'000; ++i) {
    const auto capped = cap_items(items, 1, DeviceRandom::simulated(random));
    ASSERT_EQ(capped.size(), 1U);
    kept.push_back(capped[0]);
  }
  std::vector<double> law(10);
  law[1] = law[3] = law[7] = law[9] = 0.25;
  EXPECT_TRUE(statistics::fits_choice(kept, law));
  EXPECT_EQ(cap_items(items, 10, DeviceRandom::simulated(random)), (std::vector<std::uint32_t>{1, 3, 7, 9}));
}

TEST(PartitionSelection, AnItemOfOneUserIsNamedWithTheAllowedProbability) {
  const double epsilon = 1, delta = 0.02;
  const std::uint32_t cap = 2;
  const auto selection = UnknownItems::create(epsilon, delta, cap).value();
  const double q = std::exp(-epsilon / cap);
  const double named = std::pow(q, static_cast<double>(selection.threshold() - 1)) / (1 + q);
  EXPECT_LE(named, delta / cap);
  EXPECT_GT(named * 1.01 / q, delta / cap);  // one lower threshold would be too low
  SeededRandom random(6, Purpose::test);
  std::vector<std::uint64_t> outcomes;
  const std::vector<ItemCount> lonely{{7, 1}};
  for (int i = 0; i < 200'000; ++i) {
    outcomes.push_back(selection.select(lonely, DeviceRandom::simulated(random)).value().size());
  }
  EXPECT_TRUE(statistics::fits_choice(outcomes, std::vector<double>{1 - named, named}));
  EXPECT_FALSE(statistics::fits_choice(outcomes, std::vector<double>{1 - named / 2, named / 2}));
  EXPECT_FALSE(
      statistics::fits_choice(std::vector<std::uint64_t>(200'000), std::vector<double>{1 - named, named}));
}

TEST(PartitionSelection, CatalogueCountsCarryGaussianNoiseHeldOrNot) {
  const auto catalogue = PublicCatalogue::create(12, 9, 1000).value();
  std::vector<std::uint64_t> counts(1000);
  counts[5] = 70;
  SeededRandom random(7, Purpose::test);
  std::vector<std::int64_t> noise, half;
  int named = 0;
  for (int i = 0; i < 200; ++i) {
    const auto noisy = catalogue.noisy_counts(counts, DeviceRandom::simulated(random)).value();
    for (std::size_t j = 0; j < noisy.size(); ++j) {
      noise.push_back(noisy[j] - static_cast<std::int64_t>(counts[j]));
      half.push_back(noise.back() / 2);
    }
    const auto selected = PublicCatalogue::at_least(noisy, 40);
    named += std::count(selected.begin(), selected.end(), 5U) > 0 ? 1 : 0;
  }
  EXPECT_TRUE(fits(noise, statistics::discrete_gaussian(12), 12));
  EXPECT_FALSE(fits(half, statistics::discrete_gaussian(12), 12));
  EXPECT_FALSE(fits(std::vector<std::int64_t>(noise.size()), statistics::discrete_gaussian(12), 12));
  EXPECT_FALSE(fits(noise, statistics::discrete_laplace(12 / std::sqrt(2.0)), 12));
  EXPECT_GT(named, 190);
  const auto event = std::get<DiscreteGaussianNoise>(catalogue.event().mechanism);
  EXPECT_EQ(event.l2_sensitivity, 3);
  EXPECT_EQ(event.l1_sensitivity, 9);
}

}  // namespace
}  // namespace sotto::privacy
