// Skellam and discrete Gaussian noise, accounted as Gaussian noise, against slow direct summation: the answer
// is never below the truth, and close to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "privacy/accounting/account.h"
#include "privacy/accounting/dominating_gaussian.h"
#include "privacy/accounting/gaussian_exact.h"

namespace sotto::privacy {
namespace {

using Real = long double;

// P(−reach) … P(reach).
struct Law {
  std::int64_t reach = 0;
  std::vector<Real> mass;
  Real at(std::int64_t n) const {
    return std::abs(n) <= reach ? mass[static_cast<std::size_t>(n + reach)] : Real{0};
  }
};

// The difference of two Poisson numbers, by its definition.
Law skellam(double variance) {
  const Real mean = static_cast<Real>(variance) / 2;
  const auto most = static_cast<std::int64_t>(mean + 14 * std::sqrt(variance) + 60);
  std::vector<Real> poisson;
  for (std::int64_t k = 0; k <= most; ++k)
    poisson.push_back(std::exp(k * std::log(mean) - mean - std::lgamma(static_cast<Real>(k) + 1)));
  Law law{static_cast<std::int64_t>(13 * std::sqrt(variance) + 40), {}};
  for (std::int64_t n = -law.reach; n <= law.reach; ++n) {
    Real sum = 0;
    for (std::int64_t k = std::max<std::int64_t>(0, -n); k <= most && k + n <= most; ++k)
      sum += poisson[static_cast<std::size_t>(k)] * poisson[static_cast<std::size_t>(k + n)];
    law.mass.push_back(sum);
  }
  return law;
}

Law discrete_gaussian(double sigma) {
  Law law{static_cast<std::int64_t>(14 * sigma + 10), {}};
  Real total = 0;
  for (std::int64_t n = -law.reach; n <= law.reach; ++n) {
    law.mass.push_back(std::exp(-static_cast<Real>(n * n) / (2 * static_cast<Real>(sigma) * sigma)));
    total += law.mass.back();
  }
  for (Real& mass : law.mass) mass /= total;
  return law;
}

Law sum_of(const Law& a, const Law& b) {
  Law sum{a.reach + b.reach, std::vector<Real>(static_cast<std::size_t>(2 * (a.reach + b.reach) + 1))};
  for (std::size_t i = 0; i < a.mass.size(); ++i)
    for (std::size_t j = 0; j < b.mass.size(); ++j) sum.mass[i + j] += a.mass[i] * b.mass[j];
  return sum;
}

struct Outcome {
  Real p = 0, q = 0;
};
using Outcomes = std::vector<Outcome>;

// Everything that noise can show of a number and of one that lies `shift` further.
Outcomes shifted(const Law& law, std::int64_t shift) {
  Outcomes outcomes;
  for (std::int64_t n = -law.reach; n <= law.reach + shift; ++n)
    outcomes.push_back({law.at(n - shift), law.at(n)});
  return outcomes;
}

Outcomes together(const Outcomes& a, const Outcomes& b) {
  Outcomes both;
  both.reserve(a.size() * b.size());
  for (const Outcome& x : a)
    for (const Outcome& y : b) both.push_back({x.p * y.p, x.q * y.q});
  return both;
}

double true_delta(const Outcomes& outcomes, double epsilon) {
  const Real factor = std::exp(static_cast<Real>(epsilon));
  Real sum = 0;
  for (const Outcome& outcome : outcomes) sum += std::max(Real{0}, outcome.p - factor * outcome.q);
  return static_cast<double>(sum);
}

void expect_covered(const Outcomes& outcomes, const Mechanism& mechanism, const char* what) {
  const auto gaussian = dominating_gaussian(mechanism);
  ASSERT_TRUE(gaussian) << what << ": " << describe(mechanism);
  for (const double epsilon : {0.0, 0.05, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0}) {
    const double truth = true_delta(outcomes, epsilon);
    if (truth < 1e-15) continue;  // sums of 10^5 terms
    EXPECT_GE(gaussian_delta(gaussian->noise_multiplier, epsilon), truth * (1 - 1e-9))
        << what << ": " << describe(mechanism) << ", epsilon " << epsilon;
  }
}

TEST(GridNoise, SkellamIsCoveredAtEveryEpsilonAndShift) {
  for (const double variance : {3.5, 4.0, 9.3, 30.0, 200.0, 2000.0}) {
    const Law law = skellam(variance);
    for (const std::int64_t shift : {1, 2, 3, 7, 20})
      expect_covered(shifted(law, shift), SkellamNoise{variance, 1.0 * shift * shift, 1.0 * shift}, "one");
  }
}

TEST(GridNoise, DiscreteGaussiansAndTheirSumsAreCovered) {
  for (const double sigma : {1.5, 2.0, 4.7, 20.0}) {
    for (const std::int64_t shift : {1, 2, 5, 11}) {
      const double l1 = 1.0 * shift * shift, l2 = 1.0 * shift;
      const Law one = discrete_gaussian(sigma);
      expect_covered(shifted(one, shift), DiscreteGaussianNoise{sigma, 1, 1, l1, l2}, "one");
      expect_covered(shifted(sum_of(one, one), shift), DiscreteGaussianNoise{sigma, 2, 1, l1, l2}, "two");
    }
  }
}

TEST(GridNoise, SeveralCoordinatesAreCoveredByTheirLength) {
  const Law law = skellam(16);
  const Outcomes plane = together(shifted(law, 3), shifted(law, 2));
  expect_covered(plane, SkellamNoise{16, 5, std::sqrt(13.0)}, "two coordinates");
  expect_covered(together(plane, shifted(law, 1)), SkellamNoise{16, 6, std::sqrt(14.0)}, "three coordinates");
  const Law gaussian = discrete_gaussian(3);
  expect_covered(together(shifted(gaussian, 1), shifted(gaussian, 4)),
                 DiscreteGaussianNoise{3, 1, 2, 5, std::sqrt(17.0)}, "two coordinates");
}

// Two uses on Poisson samples, both directions, against all outcomes of both.
TEST(GridNoise, SampledAndComposedItIsNeverBelowTheTruth) {
  constexpr double variance = 12, rate = 0.2;
  const Outcomes whole = shifted(skellam(variance), 3);
  Outcomes removed, added;
  for (const Outcome& o : whole) {
    removed.push_back({(1 - Real{rate}) * o.q + Real{rate} * o.p, o.q});
    added.push_back({removed.back().q, removed.back().p});
  }
  const Outcomes two_removed = together(removed, removed), two_added = together(added, added);
  const PrivacyEvent event{SkellamNoise{variance, 9, 3}, Adjacency::add_remove, Unit::user,
                           PoissonSampling{rate}, 2};
  for (const double epsilon : {0.1, 0.5, 1.0, 2.0, 4.0}) {
    const double truth = std::max(true_delta(two_removed, epsilon), true_delta(two_added, epsilon));
    EXPECT_GE(pld_epsilon({&event, 1}, truth).value().upper, epsilon * (1 - 1e-9)) << epsilon;
    if (epsilon <= 1) {
      EXPECT_LE(pld_epsilon({&event, 1}, 2 * truth).value().upper, epsilon)
          << epsilon << ": far out a grid this coarse shows less than a Gaussian";
    }
  }
}

// A sampler whose odd numbers come e^λ too rarely and whose even ones as much too often, up to division by
// their sum.
Law misdrawn(Law law, double log_ratio) {
  Real total = 0;
  for (std::int64_t n = -law.reach; n <= law.reach; ++n) {
    Real& mass = law.mass[static_cast<std::size_t>(n + law.reach)];
    mass *= std::exp(static_cast<Real>(n % 2 == 0 ? log_ratio : -log_ratio));
    total += mass;
  }
  for (Real& mass : law.mass) mass /= total;
  return law;
}

TEST(GridNoise, ASamplersFactorIsChargedToEpsilon) {
  constexpr double sigma = 4, factor = 0.2;
  const Outcomes one = shifted(misdrawn(discrete_gaussian(sigma), factor), 3), two = together(one, one);
  PrivacyEvent event{DiscreteGaussianNoise{sigma, 1, 1, 3, 3}, Adjacency::replace_one, Unit::user};
  event.count = 2;
  std::size_t missed = 0;
  for (const double epsilon : {0.5, 1.0, 2.0, 4.0}) {
    const double truth = true_delta(two, epsilon);
    for (const Method method : {Method::pld, Method::rdp, Method::analytic_gaussian}) {
      // Divided by their sum the masses are within the factor twice.
      event.log_ratio = 2 * factor;
      EXPECT_GE(account({&event, 1}, truth, method, Adversary::server).value().epsilon, epsilon * (1 - 1e-9))
          << name(method);
      event.log_ratio = 0;
      if (account({&event, 1}, truth, method, Adversary::server).value().epsilon < epsilon) ++missed;
    }
  }
  EXPECT_GT(missed, 0U) << "the factor is no formality here";
}

// The theorem's two inequalities about the law itself.
TEST(GridNoise, SecondDifferencesOfTheLogarithmAreBounded) {
  for (const double variance : {2.5, 4.0, 30.0, 400.0}) {
    const Law law = skellam(variance);
    const double bound = skellam_curvature(variance).value();
    for (std::int64_t n = 0; n < static_cast<std::int64_t>(6 * std::sqrt(variance)); ++n) {
      const Real difference = 2 * std::log(law.at(n)) - std::log(law.at(n - 1)) - std::log(law.at(n + 1));
      EXPECT_LE(static_cast<double>(difference), bound) << variance << " at " << n;
      EXPECT_GE(static_cast<double>(difference), 0) << "log-concave";
    }
    EXPECT_GT(bound, 1 / variance);
  }
}

TEST(GridNoise, CostsHardlyMoreThanGaussianNoise) {
  // Also where it is sampled, which cost 12.36 by Rényi curves alone.
  const auto epsilon = [](const Mechanism& mechanism, const Sampling& sampling, std::uint64_t count) {
    const PrivacyEvent event{mechanism, Adjacency::replace_one, Unit::user, sampling, count};
    return account_best({&event, 1}, 1e-6, Adversary::published).value();
  };
  constexpr double l2 = 200, multiplier = 0.8;
  const double sigma = multiplier * l2;
  const Mechanism skellam = SkellamNoise{sigma * sigma, l2 * l2, l2},
                  shares = DiscreteGaussianNoise{sigma / 8, 64, 5000, l2 * 70, l2};
  for (const Sampling& sampling :
       {Sampling{NoSampling{}}, Sampling{SamplingWithoutReplacement{100, 10'000}}}) {
    const std::uint64_t count = std::holds_alternative<NoSampling>(sampling) ? 10 : 1000;
    const double gaussian = epsilon(GaussianNoise{multiplier}, sampling, count).epsilon;
    for (const Mechanism& mechanism : {skellam, shares}) {
      const Guarantee grid = epsilon(mechanism, sampling, count);
      EXPECT_GE(grid.epsilon, gaussian * (1 - 1e-9));
      EXPECT_LE(grid.epsilon, gaussian * 1.001) << describe(mechanism);
      EXPECT_FALSE(grid.epsilon_lower) << "a dominating law bounds from above only";
    }
  }
}

TEST(GridNoise, TooLittleNoiseIsLeftToRenyiCurves) {
  EXPECT_FALSE(dominating_gaussian(SkellamNoise{2.4, 1, 1}));
  EXPECT_FALSE(dominating_gaussian(DiscreteGaussianNoise{0.9, 1, 1, 1, 1}));
  EXPECT_FALSE(dominating_gaussian(DiscreteGaussianNoise{0.5, 100, 1, 1, 1}))
      << "far from a discrete Gaussian";
  EXPECT_FALSE(dominating_gaussian(LaplaceNoise{1}));
  const PrivacyEvent event{SkellamNoise{2, 1, 1}, Adjacency::add_remove, Unit::user};
  EXPECT_EQ(account_best({&event, 1}, 1e-6, Adversary::server).value().method, Method::rdp);
}

}  // namespace
}  // namespace sotto::privacy
