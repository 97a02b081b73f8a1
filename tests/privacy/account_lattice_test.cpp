// The parts of the PLD accountant: rounding to the lattice errs on its side, and the Fourier path equals a
// direct convolution.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "account_events.h"
#include "privacy/accounting/gaussian_exact.h"
#include "privacy/accounting/loss_composition.h"

namespace sotto::privacy {
namespace {

using namespace account_test;

double delta_of(const LossLattice& law, double epsilon) {
  double sum = law.infinite;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    if (law.loss(i) > epsilon) sum += law.mass[i] * -std::expm1(epsilon - law.loss(i));
  }
  return sum;
}

LossLattice convolved(const LossLattice& a, const LossLattice& b) {
  LossLattice sum;
  sum.step = a.step;
  sum.offset = a.offset + b.offset;
  sum.first = a.first + b.first;
  sum.mass.assign(a.mass.size() + b.mass.size() - 1, 0.0);
  for (std::size_t i = 0; i < a.mass.size(); ++i) {
    for (std::size_t j = 0; j < b.mass.size(); ++j) sum.mass[i + j] += a.mass[i] * b.mass[j];
  }
  sum.infinite = 1 - (1 - a.infinite) * (1 - b.infinite);
  return sum;
}

LossPair pair_of(const PrivacyEvent& event) {
  auto pairs = dominating_pairs(event);
  EXPECT_TRUE(pairs);
  return pairs->remove;
}

TEST(LossLattice, RoundsToTheSideItSays) {
  const LossPair pair = pair_of(gaussian(1.2));
  const LossRange range = loss_range(pair, 1e-14);
  for (const double step : {0.01, 0.1, 0.5}) {
    const auto above = to_lattice(pair, range, step, Rounding::pessimistic);
    const auto below = to_lattice(pair, range, step, Rounding::optimistic);
    ASSERT_TRUE(above && below);
    for (double epsilon = 0; epsilon < 5; epsilon += 0.037) {
      const double exact = gaussian_delta(1.2, epsilon);
      EXPECT_GE(delta_of(*above, epsilon), exact * (1 - 1e-9));
      EXPECT_LE(delta_of(*below, epsilon), exact * (1 + 1e-9));
    }
  }
}

TEST(LossLattice, ErrorShrinksWithTheSquareOfTheStep) {
  const LossPair pair = pair_of(gaussian(1.2));
  const LossRange range = loss_range(pair, 1e-14);
  const auto gap = [&](double step) {
    const auto above = to_lattice(pair, range, step, Rounding::pessimistic);
    const auto below = to_lattice(pair, range, step, Rounding::optimistic);
    return delta_of(*above, 1.003) - delta_of(*below, 1.003);
  };
  // A hundredth of the step: a ten-thousandth of the gap, give or take where 1.003 falls between the points.
  EXPECT_LT(gap(0.002), 1e-3 * gap(0.2));
}

TEST(LossLattice, KeepsAtomsExactly) {
  const LossPair pair = pair_of(response(0.7, 4));
  const auto law = to_lattice(pair, loss_range(pair, 0), 0.7 / 16, Rounding::optimistic);
  ASSERT_TRUE(law);
  const double total = std::exp(0.7) + 3;
  EXPECT_NEAR(delta_of(*law, 0), (std::exp(0.7) - 1) / total, 1e-9);
}

TEST(LossComposition, EqualsDirectConvolution) {
  for (const auto rounding : {Rounding::pessimistic, Rounding::optimistic}) {
    const LossPair first = pair_of(sampled_gaussian(1, 0.2, 1));
    const LossPair second = pair_of(laplace(3));
    const auto a = to_lattice(first, loss_range(first, 1e-9), 0.02, rounding);
    const auto b = to_lattice(second, loss_range(second, 1e-9), 0.02, rounding);
    ASSERT_TRUE(a && b);
    LossLattice direct = convolved(*a, convolved(*a, convolved(*a, convolved(*b, *b))));
    const std::vector<LossPower> powers{{&*a, 3}, {&*b, 2}};
    for (const double epsilon : {0.05, 0.31, 1.5, 3.0}) {
      const double delta = delta_of(direct, epsilon);
      for (const double tilt : {0.0, 2.0, tilt_for_delta(powers, delta)}) {
        const auto fast = composed_epsilon(powers, delta, tilt, rounding);
        ASSERT_TRUE(fast);
        if (rounding == Rounding::pessimistic) {
          EXPECT_GE(*fast, epsilon * (1 - 1e-12));
        } else {
          EXPECT_LE(*fast, epsilon * (1 + 1e-12));
        }
        EXPECT_NEAR(*fast, epsilon, 1e-5) << tilt;
      }
    }
  }
}

TEST(LossComposition, CumulantsAreThoseOfTheTiltedLaw) {
  LossLattice law;
  law.step = 0.5;
  law.offset = 0.1;
  law.first = -2;
  law.mass = {0.1, 0.2, 0.0, 0.3, 0.4};
  const double tilt = 1.3;
  double total = 0;
  double mean = 0;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    total += law.mass[i] * std::exp(tilt * law.loss(i));
    mean += law.mass[i] * law.loss(i) * std::exp(tilt * law.loss(i));
  }
  const Cumulants at = cumulants(law, tilt);
  EXPECT_NEAR(at.value, std::log(total), 1e-12);
  EXPECT_NEAR(at.mean, mean / total, 1e-12);
  const double slope = (cumulants(law, tilt + 1e-5).mean - cumulants(law, tilt - 1e-5).mean) / 2e-5;
  EXPECT_NEAR(at.variance, slope, 1e-6);
}

}  // namespace
}  // namespace sotto::privacy
