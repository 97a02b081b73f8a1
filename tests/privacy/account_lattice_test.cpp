// The parts of the PLD accountant: rounding to the lattice errs on its side, few points as all of them, and
// the Fourier path equals a direct convolution.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "account_events.h"
#include "privacy/accounting/gaussian_exact.h"
#include "privacy/accounting/loss_composition.h"
#include "privacy/accounting/real_transform.h"

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

// Of laws on every point of their lattice.
LossLattice convolved(const LossLattice& a, const LossLattice& b) {
  LossLattice sum;
  sum.step = a.step;
  sum.offset = a.offset + b.offset;
  sum.mass.assign(a.mass.size() + b.mass.size() - 1, 0.0);
  for (std::size_t i = 0; i < sum.mass.size(); ++i)
    sum.places.push_back(a.places[0] + b.places[0] + static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < a.mass.size(); ++i) {
    for (std::size_t j = 0; j < b.mass.size(); ++j) sum.mass[i + j] += a.mass[i] * b.mass[j];
  }
  sum.infinite = 1 - (1 - a.infinite) * (1 - b.infinite);
  return sum;
}

LossLattice lattice_of(const LossPair& pair, const LossRange& range, double step, Rounding rounding,
                       const Coarseness& coarseness = {}) {
  const auto grid = loss_grid(pair, range, step, coarseness);
  EXPECT_TRUE(grid);
  return to_lattice(pair, *grid, rounding);
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
    const auto above = lattice_of(pair, range, step, Rounding::pessimistic);
    const auto below = lattice_of(pair, range, step, Rounding::optimistic);
    for (double epsilon = 0; epsilon < 5; epsilon += 0.037) {
      const double exact = gaussian_delta(1.2, epsilon);
      EXPECT_GE(delta_of(above, epsilon), exact * (1 - 1e-9));
      EXPECT_LE(delta_of(below, epsilon), exact * (1 + 1e-9));
    }
  }
}

TEST(LossLattice, ErrorShrinksWithTheSquareOfTheStep) {
  const LossPair pair = pair_of(gaussian(1.2));
  const LossRange range = loss_range(pair, 1e-14);
  const auto gap = [&](double step) {
    const auto above = lattice_of(pair, range, step, Rounding::pessimistic);
    const auto below = lattice_of(pair, range, step, Rounding::optimistic);
    return delta_of(above, 1.003) - delta_of(below, 1.003);
  };
  // A hundredth of the step: a ten-thousandth of the gap, give or take where 1.003 falls between the points.
  EXPECT_LT(gap(0.002), 1e-3 * gap(0.2));
}

TEST(LossLattice, FewPointsWhereLittleIsStayOnTheirSide) {
  for (const PrivacyEvent& event : {sampled_gaussian(0.8, 0.01, 1), laplace(1), gaussian(1.2)}) {
    const LossPair pair = pair_of(event);
    const LossRange range = loss_range(pair, 1e-14);
    const Coarseness coarseness{3, 0, 1e-7};
    const auto every = loss_grid(pair, range, 0.001);
    const auto few = loss_grid(pair, range, 0.001, coarseness);
    ASSERT_TRUE(every && few);
    EXPECT_LT(2 * few->places.size(), every->places.size());
    const auto above = to_lattice(pair, *few, Rounding::pessimistic);
    const auto below = to_lattice(pair, *few, Rounding::optimistic);
    const auto above_of_all = to_lattice(pair, *every, Rounding::pessimistic);
    const auto below_of_all = to_lattice(pair, *every, Rounding::optimistic);
    for (double epsilon = 0; epsilon < 4; epsilon += 0.0137) {
      // Between the bounds of all points lies the truth, which neither side may pass.
      EXPECT_GE(delta_of(above, epsilon), delta_of(below_of_all, epsilon) * (1 - 1e-9)) << epsilon;
      EXPECT_LE(delta_of(below, epsilon), delta_of(above_of_all, epsilon) * (1 + 1e-9)) << epsilon;
      EXPECT_NEAR(delta_of(above, epsilon), delta_of(above_of_all, epsilon), 1e-4) << epsilon;
    }
  }
}

TEST(RealTransform, EqualsTheSumThatItIs) {
  for (const std::size_t n : {4U, 8U, 16U, 32U, 64U, 512U}) {
    RealTransform transform(n);
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = std::sin(static_cast<double>(i * i + 1));
    std::vector<std::complex<double>> spectrum;
    transform.forward(values, spectrum);
    ASSERT_EQ(spectrum.size(), n / 2 + 1);
    for (std::size_t k = 0; k <= n / 2; ++k) {
      std::complex<double> sum = 0;
      for (std::size_t j = 0; j < n; ++j)
        sum += values[j] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) /
                                               static_cast<double>(n));
      EXPECT_NEAR(std::abs(spectrum[k] - sum), 0, 1e-12) << n << ' ' << k;
    }
    std::vector<double> again;
    transform.inverse(spectrum, again);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(again[i], values[i], 1e-14) << n << ' ' << i;
  }
}

TEST(LossLattice, KeepsAtomsExactly) {
  const LossPair pair = pair_of(response(0.7, 4));
  const auto law = lattice_of(pair, loss_range(pair, 0), 0.7 / 16, Rounding::optimistic);
  const double total = std::exp(0.7) + 3;
  EXPECT_NEAR(delta_of(law, 0), (std::exp(0.7) - 1) / total, 1e-9);
}

TEST(LossComposition, EqualsDirectConvolution) {
  for (const auto rounding : {Rounding::pessimistic, Rounding::optimistic}) {
    const LossPair first = pair_of(sampled_gaussian(1, 0.2, 1));
    const LossPair second = pair_of(laplace(3));
    const auto a = lattice_of(first, loss_range(first, 1e-9), 0.02, rounding);
    const auto b = lattice_of(second, loss_range(second, 1e-9), 0.02, rounding);
    LossLattice direct = convolved(a, convolved(a, convolved(a, convolved(b, b))));
    const std::vector<LossPower> powers{{&a, 3}, {&b, 2}};
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

TEST(LossComposition, ABlockDominatesItsUsesWithTheirMassAndLittleMore) {
  for (const auto& event : {sampled_gaussian(1, 0.2, 1), laplace(3)}) {
    const LossPair pair = pair_of(event);
    const auto one = lattice_of(pair, loss_range(pair, 1e-9), 0.02, Rounding::pessimistic);
    LossLattice direct = one;
    for (int i = 1; i < 6; ++i) direct = convolved(direct, one);
    for (const double tilt : {0.0, 2.0, 6.0}) {
      for (const std::int64_t coarser : {1, 2, 7}) {
        const auto block = composed_block({&one, 6}, tilt, coarser);
        ASSERT_TRUE(block) << block.error().message;
        EXPECT_NEAR(block->step, static_cast<double>(coarser) * 0.02, 1e-12);
        // Of the law that is tilted all is there, moved up by less than a point; of the law itself only
        // without a tilt: what then lies below the window counts against nobody.
        double mass = 0;
        for (std::size_t i = 0; i < block->mass.size(); ++i)
          mass += block->mass[i] * std::exp(tilt * block->loss(i));
        const double expected = std::exp(6 * cumulants(one, tilt).value);
        EXPECT_GE(mass, expected * (1 - 1e-9));
        EXPECT_LE(mass, expected * std::exp(tilt * block->step) * (1 + 1e-9));
        EXPECT_LT(block->noise, 1e-8);
        for (const double epsilon : {-1.0, 0.05, 0.31, 1.5, 3.0}) {
          const double noise = block->noise * std::exp(6 * cumulants(one, tilt).value - tilt * epsilon);
          EXPECT_GE(delta_of(*block, epsilon) + noise, delta_of(direct, epsilon) * (1 - 1e-12)) << epsilon;
          EXPECT_LE(delta_of(*block, epsilon),
                    delta_of(direct, epsilon) + noise + block->step * block->step / 4);
        }
      }
    }
  }
}

TEST(LossComposition, CumulantsAreThoseOfTheTiltedLaw) {
  LossLattice law;
  law.step = 0.5;
  law.offset = 0.1;
  law.places = {-2, -1, 0, 1, 4};
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
