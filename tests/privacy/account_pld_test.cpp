// Privacy loss distributions against closed forms and brute force: lower ≤ truth ≤ upper, and how close.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "account_events.h"
#include "privacy/accounting/gaussian_exact.h"
#include "privacy/accounting/pld_accountant.h"

namespace sotto::privacy {
namespace {

using namespace account_test;

void expect_bracket(const Result<PldAnswer>& answer, double truth, double relative_gap) {
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_LE(answer->lower, truth * (1 + 1e-12));
  EXPECT_GE(answer->upper, truth * (1 - 1e-12));
  EXPECT_LE(answer->upper - answer->lower, relative_gap * truth);
}

TEST(PldAccountant, BracketsTheClosedFormOfTheGaussian) {
  for (const double noise : {0.3, 1.0, 5.0, 40.0}) {
    for (const std::uint64_t count : {1U, 10U, 1000U}) {
      for (const double delta : {1e-3, 1e-6, 1e-12}) {
        const auto exact = gaussian_epsilon(noise / std::sqrt(static_cast<double>(count)), delta);
        ASSERT_TRUE(exact);
        if (*exact < 0.01) continue;
        SCOPED_TRACE(::testing::Message() << noise << ' ' << count << ' ' << delta);
        // One use is not composed.
        const double gap = count == 1 ? 1e-9 : 0.012;
        expect_bracket(pld_epsilon(Events{gaussian(noise, count)}, delta), *exact, gap);
      }
    }
  }
}

TEST(PldAccountant, ResolvesDeltasFarBelowDoublePrecisionOfOne) {
  for (const double delta : {1e-18, 1e-40}) {
    const auto exact = gaussian_epsilon(0.5, delta);
    ASSERT_TRUE(exact);
    expect_bracket(pld_epsilon(Events{gaussian(5, 100)}, delta), *exact, 2e-3);
  }
}

TEST(PldAccountant, BracketsTheEpsilonOfTheGaussiansDelta) {
  for (const double epsilon : {0.05, 0.5, 3.0, 8.0}) {
    SCOPED_TRACE(epsilon);
    expect_bracket(pld_epsilon(Events{gaussian(5, 50)}, gaussian_delta(5 / std::sqrt(50.0), epsilon)),
                   epsilon, 0.01);
  }
}

TEST(PldAccountant, MatchesThePublishedSampledGaussian) {
  // Noise 1.1, rate 0.01, 10,000 steps, δ 1e-5. dp-accounting 0.6.0 (step 1e-4) prints an upper bound
  // of 5.19262.
  const auto answer = pld_epsilon(Events{sampled_gaussian(1.1, 0.01, 10'000)}, 1e-5);
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->upper, 5.1926, 1e-3);
  EXPECT_LE(answer->lower, 5.19262);
  EXPECT_LE(answer->upper - answer->lower, 1e-3 * answer->upper);
}

TEST(PldAccountant, MatchesOtherComputedValues) {
  // Upper bounds of dp-accounting 0.6.0 at step 1e-4 (Laplace: 1e-5).
  struct Row {
    PrivacyEvent event;
    double delta, epsilon;
  };
  for (const auto& row :
       {Row{sampled_gaussian(1.0, 0.01, 1000), 1e-6, 2.12452},
        Row{sampled_gaussian(0.8, 0.004, 1000), 1e-8, 2.52701},
        Row{sampled_gaussian(2.0, 0.05, 300), 1e-7, 2.45383}, Row{laplace(10, 100), 1e-6, 4.69267}}) {
    const auto answer = pld_epsilon(Events{row.event}, row.delta);
    ASSERT_TRUE(answer);
    EXPECT_LE(answer->lower, row.epsilon);
    EXPECT_NEAR(answer->upper, row.epsilon, 5e-4);
  }
}

TEST(PldAccountant, OneSampledUseHasItsClosedForm) {
  // Removal: δ(ε) = q·δ_Gaussian(log(1 + (e^ε − 1)/q)), and addition shows less at ε > 0.
  const double rate = 0.1;
  for (const double epsilon : {0.05, 0.3, 1.0}) {
    const double truth = rate * gaussian_delta(0.8, std::log1p(std::expm1(epsilon) / rate));
    expect_bracket(pld_epsilon(Events{sampled_gaussian(0.8, rate, 1)}, truth), epsilon, 1e-9);
  }
}

TEST(PldAccountant, OneLaplaceUseHasItsClosedForm) {
  for (const double scale : {0.3, 1.0, 7.0}) {
    for (const double delta : {1e-9, 1e-3, 0.02}) {
      const double truth = 1 / scale + 2 * std::log1p(-delta);
      if (truth <= 0) continue;
      expect_bracket(pld_epsilon(Events{laplace(scale)}, delta), truth, 1e-6);
    }
  }
}

// δ(ε) of T uses of randomised response by enumerating how often each of the telling reports came up.
double response_delta(double response_epsilon, double categories, int uses, double epsilon) {
  const double total = std::exp(response_epsilon) + categories - 1;
  const double keep = std::exp(response_epsilon) / total;
  const double other = 1 / total;
  const double rest = std::max(0.0, 1 - keep - other);
  double sum = 0;
  for (int up = 0; up <= uses; ++up) {
    for (int down = 0; up + down <= uses; ++down) {
      const int neutral = uses - up - down;
      if (rest == 0 && neutral > 0) continue;
      const double log_count =
          std::lgamma(uses + 1) - std::lgamma(up + 1) - std::lgamma(down + 1) - std::lgamma(neutral + 1);
      const double log_rest = neutral > 0 ? neutral * std::log(rest) : 0;
      const double p = log_count + up * std::log(keep) + down * std::log(other) + log_rest;
      const double loss = (up - down) * response_epsilon;
      if (loss > epsilon) sum += std::exp(p) * -std::expm1(epsilon - loss);
    }
  }
  return sum;
}

TEST(PldAccountant, RandomisedResponseEqualsBruteForce) {
  for (const std::uint64_t categories : {2U, 3U, 20U}) {
    for (const int uses : {1, 7, 40}) {
      for (const double epsilon : {0.02, 0.33, 2.0}) {
        const double truth = response_delta(0.5, static_cast<double>(categories), uses, epsilon);
        SCOPED_TRACE(::testing::Message() << categories << ' ' << uses << ' ' << epsilon);
        if (truth == 0) continue;
        expect_bracket(
            pld_epsilon(Events{response(0.5, categories, static_cast<std::uint64_t>(uses))}, truth), epsilon,
            1e-3);
      }
    }
  }
}

TEST(PldAccountant, WithoutReplacementCoversTwoRoundsOfARealCohort) {
  // One of five values enters each round; the fifth is 0 or 1, the others are all `others`. Masses on a fine
  // grid give a lower bound of the true δ of two rounds.
  const double noise = 1.0;
  const int cells = 1200;
  for (const double others : {0.0, 0.5, 1.0}) {
    std::vector<double> p;
    std::vector<double> q;
    const auto below = [&](double x, double mean) {
      return 0.5 * std::erfc((mean - x) / noise / std::numbers::sqrt2);
    };
    for (int i = 0; i < cells; ++i) {
      const double a = -9 + 19.0 * i / cells;
      const double b = -9 + 19.0 * (i + 1) / cells;
      const double shared = 0.8 * (below(b, others) - below(a, others));
      p.push_back(shared + 0.2 * (below(b, 1) - below(a, 1)));
      q.push_back(shared + 0.2 * (below(b, 0) - below(a, 0)));
    }
    for (const double epsilon : {0.05, 0.4, 1.0}) {
      double forward = 0;
      double backward = 0;
      for (std::size_t i = 0; i < p.size(); ++i) {
        for (std::size_t j = 0; j < p.size(); ++j) {
          forward += std::max(0.0, p[i] * p[j] - std::exp(epsilon) * q[i] * q[j]);
          backward += std::max(0.0, q[i] * q[j] - std::exp(epsilon) * p[i] * p[j]);
        }
      }
      const auto answer = pld_epsilon(Events{cohort_gaussian(noise, 1, 5, 2)}, std::max(forward, backward));
      ASSERT_TRUE(answer);
      EXPECT_GE(answer->upper, epsilon) << others << ' ' << epsilon;
    }
  }
}

TEST(PldAccountant, HeterogeneousGaussiansAddUpToOne) {
  const Events events{gaussian(3, 10), gaussian(7, 100), gaussian(1.5, 1)};
  const double inverse = 10 / 9.0 + 100 / 49.0 + 1 / 2.25;
  const auto exact = gaussian_epsilon(1 / std::sqrt(inverse), 1e-7);
  ASSERT_TRUE(exact);
  expect_bracket(pld_epsilon(events, 1e-7), *exact, 2e-3);
}

TEST(PldAccountant, MixedPlansStayBracketed) {
  const Events events{sampled_gaussian(1, 0.01, 1000),
                      laplace(10, 30),
                      {PureDp{0.3}, Adjacency::add_remove, Unit::user, NoSampling{}, 7}};
  const auto answer = pld_epsilon(events, 1e-6);
  ASSERT_TRUE(answer);
  EXPECT_LE(answer->upper - answer->lower, 2e-3 * answer->upper);
}

TEST(PldAccountant, ApproximateEventsSpendTheirDelta) {
  const PrivacyEvent event{ApproximateDp{0.2, 1e-8}, Adjacency::add_remove, Unit::user, NoSampling{}, 50};
  EXPECT_FALSE(pld_epsilon(Events{event}, 4e-7));
  const auto answer = pld_epsilon(Events{event}, 1e-6);
  ASSERT_TRUE(answer);
  const auto pure =
      pld_epsilon(Events{{PureDp{0.2}, Adjacency::add_remove, Unit::user, NoSampling{}, 50}}, 1e-6);
  ASSERT_TRUE(pure);
  EXPECT_GT(answer->lower, pure->upper);
}

TEST(PldAccountant, InBlocksStaysInTheBracketAndNearItsTop) {
  PldTarget upper_only;
  upper_only.with_lower_bound = false;
  for (const auto& event :
       {gaussian(100, 10'000), gaussian(40, 1'009), sampled_gaussian(2, 0.01, 100'000),
        sampled_gaussian(3, 0.02, 997), laplace(100, 10'000), sampled_gaussian(1, 0.01, 1'000),
        response(0.05, 3, 2'000), cohort_gaussian(20, 1, 4, 600)}) {
    for (const double delta : {1e-4, 1e-6, 1e-10}) {
      SCOPED_TRACE(::testing::Message() << describe(event.mechanism) << ' ' << event.count << ' ' << delta);
      const auto bracket = pld_epsilon(Events{event}, delta);
      const auto upper = pld_epsilon(Events{event}, delta, upper_only);
      ASSERT_TRUE(bracket && upper);
      EXPECT_GE(upper->upper, bracket->lower);
      EXPECT_LE(upper->upper, bracket->upper * (1 + 3e-4) + 1e-4);
    }
  }
}

TEST(PldAccountant, InBlocksIsNeverBelowTheClosedForm) {
  PldTarget upper_only;
  upper_only.with_lower_bound = false;
  for (const std::uint64_t count : {400U, 401U, 2'500U, 9'973U, 1'000'000U}) {
    for (const double per_root : {0.8, 3.0, 20.0}) {
      for (const double delta : {1e-3, 1e-6, 1e-12}) {
        const auto exact = gaussian_epsilon(per_root, delta);
        ASSERT_TRUE(exact);
        if (*exact < 0.01) continue;
        SCOPED_TRACE(::testing::Message() << count << ' ' << per_root << ' ' << delta);
        const double noise = per_root * std::sqrt(static_cast<double>(count));
        const auto upper = pld_epsilon(Events{gaussian(noise, count)}, delta, upper_only);
        ASSERT_TRUE(upper) << upper.error().message;
        EXPECT_GE(upper->upper, *exact * (1 - 1e-12));
        EXPECT_LE(upper->upper, *exact * 1.002 + 1e-4);
      }
    }
  }
}

TEST(PldAccountant, RefusesWhatHasNoDominatingPair) {
  const PrivacyEvent event{ConcentratedDp{0.1}, Adjacency::add_remove, Unit::user, NoSampling{}, 1};
  const auto answer = pld_epsilon(Events{event}, 1e-6);
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("method rdp"), std::string::npos);
}

}  // namespace
}  // namespace sotto::privacy
