// The numbers behind the bound on the sampler's distance: the precise weights agree with independent ways to
// compute them.
#include <gtest/gtest.h>

#include "privacy/noise/lattice_law.h"

namespace sotto::privacy {
namespace {

double log2_of_difference(DoubleDouble a, DoubleDouble b) {
  return std::log2(std::fabs(((a - b) / b).hi) + 0x1.0p-200);
}

TEST(DoubleDouble, ExponentialMatchesKnownDigits) {
  // e^-1 and e^-50 to 34 digits, split into two doubles.
  const DoubleDouble one = exp_minus(DoubleDouble(1.0));
  EXPECT_EQ(one.hi, 0x1.78b56362cef38p-2);
  EXPECT_NEAR(one.lo, -0x1.ca8a4270fadf5p-57, 0x1.0p-100);
}

TEST(DoubleDouble, ExponentialTurnsSumsIntoProducts) {
  for (const double a : {0.001, 0.3, 0.69, 1.7, 12.5, 44.0, 91.0}) {
    for (const double b : {0.01, 2.5, 33.3}) {
      const DoubleDouble together = exp_minus(DoubleDouble(a) + DoubleDouble(b));
      EXPECT_LT(log2_of_difference(exp_minus(DoubleDouble(a)) * exp_minus(DoubleDouble(b)), together), -96);
    }
  }
}

TEST(DoubleDouble, RootAndQuotientInvertTheirProducts) {
  for (const double a : {0.1, 2.0, 3.7e9}) {
    const DoubleDouble value = DoubleDouble(a) / DoubleDouble(7.0);
    EXPECT_LT(log2_of_difference(sqrt(value) * sqrt(value), value), -100);
    EXPECT_LT(log2_of_difference(value * DoubleDouble(7.0), DoubleDouble(a)), -100);
  }
}

TEST(LatticeLaw, SkellamExpansionAndRecurrenceAgreeWithinTheStatedPrecision) {
  const double variance = SkellamLaw::expansion_from;
  const SkellamLaw by_expansion(variance);
  const auto by_recurrence = skellam_weights_by_recurrence(variance);
  ASSERT_GT(by_recurrence.size(), 13'000U);
  for (std::size_t x = 0; x < by_recurrence.size(); x += 7) {
    EXPECT_LT(log2_of_difference(by_expansion.precise_weight(static_cast<std::int64_t>(x)), by_recurrence[x]),
              -87)
        << x;
  }
}

TEST(LatticeLaw, SkellamRecurrenceMatchesTheSeriesOfTheBesselFunction) {
  // I_x(μ) = Σ (μ/2)^(2m+x) / (m! (m+x)!)
  const double variance = 2.25;
  const auto weights = skellam_weights_by_recurrence(variance);
  const auto bessel = [&](int x) {
    DoubleDouble sum = 0.0;
    for (int m = 0; m < 60; ++m) {
      DoubleDouble term = 1.0;
      for (int i = 0; i < 2 * m + x; ++i) term = term * DoubleDouble(variance / 2);
      for (int i = 2; i <= m; ++i) term = term / DoubleDouble(i);
      for (int i = 2; i <= m + x; ++i) term = term / DoubleDouble(i);
      sum = sum + term;
    }
    return sum;
  };
  for (const int x : {1, 2, 5, 12}) {
    EXPECT_LT(log2_of_difference(weights[static_cast<std::size_t>(x)], bessel(x) / bessel(0)), -90) << x;
  }
}

TEST(LatticeLaw, RoundedGaussianWeightIsTheAreaOfItsCell) {
  const double sigma = 1024;
  const RoundedGaussianLaw law(sigma * sigma);
  const auto area = [&](double x) {  // Simpson's rule: the error is of order σ^-4
    const auto density = [&](double y) { return std::exp(-y * y / (2 * sigma * sigma)); };
    return (density(x - 0.5) + 4 * density(x) + density(x + 0.5)) / 6;
  };
  for (const int x : {1, 500, 1024, 3000, 5000}) {
    EXPECT_NEAR(law.precise_weight(x).hi / (area(x) / area(0)), 1.0, 1e-11) << x;
  }
}

template <class Law>
void expect_contract(const Law& law, std::int64_t stride) {
  double before = 1, at_least_all = 1;
  EXPECT_EQ(law.precise_weight(0).hi, 1.0);
  for (std::int64_t x = 1; x < law.reach(); x += stride) {
    const DoubleDouble precise = law.precise_weight(x);
    EXPECT_EQ(precise.hi, law.precise_weight(-x).hi);
    EXPECT_LE(precise.hi, before);
    EXPECT_NEAR(law.weight(x) / precise.hi, 1.0, 0x1.0p-40);
    before = precise.hi;
    if (x > stride) at_least_all += 2 * static_cast<double>(stride) * precise.hi;
  }
  if (law.memoryless()) return;
  // Weights are log-concave: beyond, they fall at least as fast as the last two do.
  const double last = law.precise_weight(law.reach() - 1).hi;
  const double ratio = last / law.precise_weight(law.reach() - 2).hi;
  EXPECT_LT(2 * last * ratio / (1 - ratio) / at_least_all, 0x1.0p-128);
}

TEST(LatticeLaw, EveryLawKeepsItsContract) {
  expect_contract(DiscreteGaussianLaw(1.0 / 16), 1);
  expect_contract(DiscreteGaussianLaw(1e12), 99'991);
  expect_contract(RoundedGaussianLaw(1 << 20), 101);
  expect_contract(RoundedGaussianLaw(4.0e12), 99'991);
  expect_contract(DiscreteLaplaceLaw(0.0625), 1);
  expect_contract(DiscreteLaplaceLaw(1e6), 99'991);
  expect_contract(SkellamLaw(1.0 / 1024), 1);
  expect_contract(SkellamLaw(5000), 3);
  expect_contract(SkellamLaw(SkellamLaw::expansion_from), 101);
  expect_contract(SkellamLaw(1e12), 99'991);
}

}  // namespace
}  // namespace sotto::privacy
