// Rényi curves against exact sums and integrals, and the published values of the sampled Gaussian.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "account_events.h"
#include "privacy/accounting/rdp_accountant.h"
#include "privacy/accounting/rdp_curves.h"

namespace sotto::privacy {
namespace {

using namespace account_test;

double normal_density(double x, double mean, double sigma) {
  const double z = (x - mean) / sigma;
  return std::exp(-z * z / 2) / (sigma * std::sqrt(2 * std::numbers::pi));
}

// D_α by a fine trapezoid over [−40σ, 40σ].
double renyi_by_quadrature(const std::function<double(double)>& p, const std::function<double(double)>& q,
                           double alpha, double reach) {
  const int steps = 400'000;
  double sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const double x = -reach + 2 * reach * i / steps;
    const double below = q(x);
    if (below > 0) sum += std::pow(p(x) / below, alpha) * below;
  }
  return std::log(sum * 2 * reach / steps) / (alpha - 1);
}

double renyi_of_masses(const std::vector<double>& p, const std::vector<double>& q, double alpha) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] > 1e-290 && q[i] > 1e-290)
      sum += std::exp(alpha * std::log(p[i]) + (1 - alpha) * std::log(q[i]));
  }
  return std::log(sum) / (alpha - 1);
}

std::vector<double> shifted(const std::vector<double>& mass, std::size_t by) {
  std::vector<double> out(mass.size(), 0.0);
  for (std::size_t i = by; i < mass.size(); ++i) out[i] = mass[i - by];
  return out;
}

TEST(RdpAccountant, MatchesThePublishedSampledGaussian) {
  // Noise 1.1, rate 0.01, 10,000 steps, δ 1e-5. dp-accounting 0.6.0 prints 5.6320 from a fixed list of
  // orders.
  const Events events{sampled_gaussian(1.1, 0.01, 10'000)};
  const auto accountant = RdpAccountant::create(events);
  ASSERT_TRUE(accountant);
  const auto improved = accountant->epsilon(1e-5);
  const auto classical = accountant->epsilon(1e-5, RdpConversion::classical);
  ASSERT_TRUE(improved && classical);
  EXPECT_NEAR(improved->epsilon, 5.6320, 5e-4);
  EXPECT_LE(improved->epsilon, 5.63202);  // searching all orders can only help
  EXPECT_NEAR(classical->epsilon, 6.28, 5e-3);
}

TEST(RdpPoissonGaussian, EqualsTheIntegralAtIntegerAndFractionalOrders) {
  for (const double rate : {0.01, 0.2, 0.7}) {
    for (const double noise : {0.8, 1.1, 3.0}) {
      for (const double alpha : {1.3, 2.0, 2.5, 3.7, 6.0}) {
        const auto without = [&](double x) { return normal_density(x, 0, noise); };
        const auto mixed = [&](double x) {
          return (1 - rate) * without(x) + rate * normal_density(x, 1, noise);
        };
        const double exact = renyi_by_quadrature(mixed, without, alpha, 30 * noise);
        EXPECT_NEAR(rdp_poisson_gaussian(rate, noise, alpha), exact, 1e-9 + 1e-7 * exact)
            << rate << ' ' << noise << ' ' << alpha;
      }
    }
  }
}

TEST(RdpPoissonGaussian, IsContinuousAcrossIntegers) {
  for (const double alpha : {2.0, 5.0, 20.0}) {
    const double at = rdp_poisson_gaussian(0.05, 1.5, alpha);
    EXPECT_NEAR(rdp_poisson_gaussian(0.05, 1.5, alpha + 1e-6), at, 1e-4 * at);
    EXPECT_NEAR(rdp_poisson_gaussian(0.05, 1.5, alpha - 1e-6), at, 1e-4 * at);
  }
}

TEST(RdpMechanisms, LaplaceEqualsItsIntegral) {
  for (const double scale : {0.5, 1.0, 4.0}) {
    for (const double alpha : {1.5, 3.0, 8.0}) {
      const auto density = [scale](double x) { return std::exp(-std::abs(x) / scale) / (2 * scale); };
      const double exact = renyi_by_quadrature(
          density, [&](double x) { return density(x - 1); }, alpha, 40 * scale);
      EXPECT_NEAR(rdp_unsampled(LaplaceNoise{scale}, alpha), exact, 1e-5 * exact);
    }
  }
}

TEST(RdpMechanisms, RandomisedResponseEqualsItsSum) {
  for (const int categories : {2, 3, 10}) {
    const double total = std::exp(1.2) + categories - 1;
    std::vector<double> p(static_cast<std::size_t>(categories), 1 / total);
    std::vector<double> q = p;
    p[0] = q[1] = std::exp(1.2) / total;
    for (const double alpha : {1.1, 2.0, 7.5}) {
      EXPECT_NEAR(rdp_unsampled(RandomisedResponse{1.2, static_cast<std::uint64_t>(categories)}, alpha),
                  renyi_of_masses(p, q, alpha), 1e-12);
    }
  }
}

TEST(RdpMechanisms, SkellamBoundLiesJustAboveTheExactDivergence) {
  const double variance = 25;
  std::vector<double> mass(401, 0.0);
  for (std::size_t i = 0; i < mass.size(); ++i) {
    const double k = static_cast<double>(i) - 200;
    mass[i] = std::exp(-variance) * std::cyl_bessel_i(std::abs(k), variance);
  }
  for (const std::size_t shift : {1U, 2U, 3U}) {
    const double sensitivity = static_cast<double>(shift);
    for (const double alpha : {2.0, 4.0, 8.0}) {
      const double exact = renyi_of_masses(shifted(mass, shift), mass, alpha);
      const double bound = rdp_unsampled(SkellamNoise{variance, sensitivity, sensitivity}, alpha);
      EXPECT_GE(bound, exact);
      EXPECT_LE(bound, 1.2 * exact);
    }
  }
  EXPECT_TRUE(std::isinf(rdp_unsampled(SkellamNoise{variance, 1, 1}, 2.5)));
}

TEST(RdpMechanisms, SumsOfDiscreteGaussiansStayBelowTheirBound) {
  for (const double sigma : {0.5, 0.8, 1.5}) {
    std::vector<double> one(81, 0.0);
    double total = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
      const double k = static_cast<double>(i) - 40;
      one[i] = std::exp(-k * k / (2 * sigma * sigma));
      total += one[i];
    }
    for (auto& value : one) value /= total;
    std::vector<double> sum(241, 0.0);  // three devices
    for (std::size_t a = 0; a < one.size(); ++a) {
      for (std::size_t b = 0; b < one.size(); ++b) {
        for (std::size_t c = 0; c < one.size(); ++c) sum[a + b + c] += one[a] * one[b] * one[c];
      }
    }
    for (const double alpha : {1.5, 2.0, 5.0}) {
      const double exact = renyi_of_masses(shifted(sum, 1), sum, alpha);
      const double bound = rdp_unsampled(DiscreteGaussianNoise{sigma, 3, 1, 1, 1}, alpha);
      EXPECT_GE(bound, exact) << sigma << ' ' << alpha;
      if (sigma > 1) {
        EXPECT_LE(bound, 1.001 * exact);
      }
    }
  }
}

TEST(RdpWithoutReplacement, CoversARealCohort) {
  // A cohort of one out of five values in [0, 1], so replacing one moves the result by at most 1. The fifth
  // value changes from 0 to 1, the others stay where they are.
  const double fraction = 0.2;
  const double noise = 1.0;
  const auto unsampled = [noise](double order) { return order / (2 * noise * noise); };
  for (const double others : {0.0, 0.4, 1.0}) {
    for (const std::uint64_t alpha : {2U, 3U, 6U}) {
      const auto mixed = [&](double changed) {
        return [=](double x) {
          return (1 - fraction) * normal_density(x, others, noise) +
                 fraction * normal_density(x, changed, noise);
        };
      };
      const double a = static_cast<double>(alpha);
      const double exact = std::max(renyi_by_quadrature(mixed(1), mixed(0), a, 30),
                                    renyi_by_quadrature(mixed(0), mixed(1), a, 30));
      EXPECT_GE(rdp_without_replacement(fraction, unsampled, INFINITY, alpha), exact);
    }
  }
}

TEST(RdpAccountant, SamplingNeverHurts) {
  for (const double alpha : {2.0, 8.0, 32.0}) {
    for (const Mechanism& mechanism : {Mechanism{GaussianNoise{0.7}}, Mechanism{LaplaceNoise{0.5}},
                                       Mechanism{SkellamNoise{30, 5, 5}}, Mechanism{PureDp{2}}}) {
      PrivacyEvent event{mechanism, Adjacency::replace_one, Unit::user, NoSampling{}, 1};
      const double whole = rdp_of_one_use(event, alpha);
      event.sampling = SamplingWithoutReplacement{30, 100};
      EXPECT_LE(rdp_of_one_use(event, alpha), whole);
      event.adjacency = Adjacency::add_remove;
      event.sampling = PoissonSampling{0.3};
      EXPECT_LE(rdp_of_one_use(event, alpha), whole);
    }
  }
}

TEST(RdpAccountant, ChargesTheDeltaOfApproximateEvents) {
  const PrivacyEvent event{ApproximateDp{0.1, 1e-7}, Adjacency::add_remove, Unit::user, NoSampling{}, 20};
  const auto accountant = RdpAccountant::create(Events{event});
  ASSERT_TRUE(accountant);
  EXPECT_FALSE(accountant->epsilon(2e-6));  // 20 · 1e-7 is already gone
  const auto tight = accountant->epsilon(2.1e-6);
  const auto loose = accountant->epsilon(1e-4);
  ASSERT_TRUE(tight && loose);
  EXPECT_GT(tight->epsilon, loose->epsilon);
}

}  // namespace
}  // namespace sotto::privacy
