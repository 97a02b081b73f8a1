// Nothing but grid points leaves a device, and float noise cannot get there.
#include <gtest/gtest.h>

#include <limits>
#include <type_traits>

#include "base/distributions.h"
#include "privacy/mechanisms/vector_release.h"
#include "privacy/noise/device_random.h"
#include "privacy/noise/grid_noise.h"

namespace sotto::privacy {
namespace {

// By type: device randomness does not come from a seeded generator by accident, and a device mechanism takes
// neither a bare RandomSource nor a SeededRandom.
static_assert(std::is_constructible_v<DeviceRandom, SecureRandom&>);
static_assert(!std::is_constructible_v<DeviceRandom, SeededRandom&>);
static_assert(!std::is_constructible_v<DeviceRandom, RandomSource&>);
static_assert(!std::is_invocable_v<decltype(&GaussianMechanism::release), const GaussianMechanism&,
                                   std::span<const double>, SeededRandom&>);
static_assert(!std::is_convertible_v<std::vector<float>, GridVector>);
static_assert(!std::is_convertible_v<std::vector<double>, GridVector>);

bool on_grid(double value, double step) { return value / step == std::nearbyint(value / step); }

TEST(GridVector, StepIsAPowerOfTwoAMillionthOfTheNoise) {
  for (const double scale : {1e-9, 0.015, 1.0, 3.0, 1e7}) {
    const double step = grid_step_for(scale);
    int exponent = 0;
    EXPECT_EQ(std::frexp(step, &exponent), 0.5);
    EXPECT_GE(scale / step, 1 << 19);
    EXPECT_LE(scale / step, 1 << 20);
  }
}

TEST(GridVector, SnapsToTheNearestPointAndBackExactly) {
  const std::vector<double> values{0.3, -0.7, 5.0, 0.12499, 1e6};
  const GridVector snapped = snap(values, 0.125).value();
  const auto reals = snapped.reals();
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_LE(std::fabs(reals[i] - values[i]), 0.125 / 2);
    EXPECT_TRUE(on_grid(reals[i], 0.125));
  }
}

TEST(GridVector, RefusesWhatNoGridHolds) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300}) {
    const auto snapped = snap(std::vector<double>{0.0, bad}, 0.5);
    ASSERT_FALSE(snapped.has_value());
    EXPECT_NE(snapped.error().message.find("coordinate 1"), std::string::npos);
  }
}

TEST(GridVector, SnappedNeighboursStayWithinTheChargedSensitivity) {
  SeededRandom random(1, Purpose::test);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> a(50), b(50);
    double l1 = 0, squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<double>(random() >> 40) * 0x1.0p-24;
      b[i] = static_cast<double>(random() >> 40) * 0x1.0p-24;
      l1 += std::fabs(a[i] - b[i]);
      squares += (a[i] - b[i]) * (a[i] - b[i]);
    }
    const auto x = snap(a, 0.25).value().reals(), y = snap(b, 0.25).value().reals();
    double snapped_l1 = 0, snapped_squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      snapped_l1 += std::fabs(x[i] - y[i]);
      snapped_squares += (x[i] - y[i]) * (x[i] - y[i]);
    }
    EXPECT_LE(snapped_l1, l1 + snapping_l1_charge(0.25, a.size()));
    EXPECT_LE(std::sqrt(snapped_squares), std::sqrt(squares) + snapping_l2_charge(0.25, a.size()));
  }
}

TEST(GridVector, EveryReleasedNumberIsAGridPoint) {
  const std::vector<double> values{0.1, -0.25, 1.0 / 3, 0.7};
  SecureRandom random;
  const auto gaussian =
      GaussianMechanism::create({.noise_multiplier = 1.7, .l2_sensitivity = 0.3, .dimension = 4}).value();
  const auto laplace =
      LaplaceMechanism::create({.epsilon = 0.9, .l1_sensitivity = 0.3, .dimension = 4}).value();
  for (int i = 0; i < 500; ++i) {
    for (const double value : gaussian.release(values, random).value().reals()) {
      EXPECT_TRUE(on_grid(value, gaussian.step()));
    }
    for (const double value : laplace.release(values, random).value().reals()) {
      EXPECT_TRUE(on_grid(value, laplace.step()));
    }
  }
  // The judgement can fail: floating-point noise of the same size is off the grid.
  SeededRandom seeded(1, Purpose::noise);
  std::vector<double> floats(100, 0.1);
  for (double& value : floats) value += 0.51 * normal(seeded);
  EXPECT_TRUE(
      std::any_of(floats.begin(), floats.end(), [&](double v) { return !on_grid(v, gaussian.step()); }));
}

TEST(GridNoise, ParametersOutOfRangeAreRefusedWithTheirName) {
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e9}) {
    EXPECT_FALSE(DiscreteGaussian::create(bad * (bad < 0 ? 1e-9 : 1)).has_value()) << bad;
    EXPECT_FALSE(DiscreteLaplace::create(bad).has_value()) << bad;
    EXPECT_FALSE(RoundedGaussian::create(bad).has_value()) << bad;
    EXPECT_FALSE(Skellam::create(bad * (bad > 1 ? 1e9 : 1)).has_value()) << bad;
  }
  EXPECT_NE(DiscreteLaplace::create(0).error().message.find("discrete Laplace scale"), std::string::npos);
  EXPECT_NE(RoundedGaussian::create(10).error().message.find("finer"), std::string::npos);
}

}  // namespace
}  // namespace sotto::privacy
