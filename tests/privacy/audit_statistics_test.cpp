// The statistics under the audit: exact where they must be, and wrong no more often than they say.
#include <gtest/gtest.h>

#include "base/distributions.h"
#include "privacy/accounting/log_math.h"
#include "privacy/audit/gaussian_tradeoff.h"
#include "privacy/audit/threshold_event.h"

namespace sotto::privacy {
namespace {

// Term by term from Pascal's triangle: slow and obvious.
double tail_by_definition(int trials, int successes, double p) {
  std::vector<long double> mass{1};
  for (int n = 0; n < trials; ++n) {
    std::vector<long double> next(mass.size() + 1);
    for (std::size_t k = 0; k < mass.size(); ++k) {
      next[k] += mass[k] * (1 - static_cast<long double>(p));
      next[k + 1] += mass[k] * p;
    }
    mass = std::move(next);
  }
  long double sum = 0;
  for (int k = successes; k <= trials; ++k) sum += mass[static_cast<std::size_t>(k)];
  return static_cast<double>(sum);
}

TEST(BinomialTail, AgreesWithTheDefinitionFromTheBodyToFarOut) {
  for (const double p : {0.001, 0.1, 0.5, 0.93}) {
    for (const int successes : {0, 1, 5, 20, 59, 60}) {
      const double expected = tail_by_definition(60, successes, p);
      EXPECT_NEAR(binomial_at_least(60, static_cast<std::uint64_t>(successes), p) / expected, 1, 1e-10)
          << successes << " of 60 at " << p;
    }
  }
  EXPECT_EQ(binomial_at_least(10, 11, 0.5), 0);
  EXPECT_EQ(binomial_at_least(10, 3, 1.0), 1);
  EXPECT_EQ(binomial_at_least(10, 3, 0.0), 0);
}

TEST(BinomialTail, BothTailsAndTheMassBetweenThemMakeOne) {
  for (const std::uint64_t k : {0U, 17U, 500U, 999U}) {
    const double at_most = binomial_at_least(1000, 1000 - k, 0.6);  // as many failures
    EXPECT_NEAR(at_most + binomial_at_least(1000, k + 1, 0.4), 1, 1e-12);
    EXPECT_NEAR(binomial_at_least(1000, k, 0.4) - binomial_at_least(1000, k + 1, 0.4),
                binomial_mass(1000, k, 0.4), 1e-12);
  }
}

TEST(ClopperPearson, SolvesItsDefinitionAndKnownCases) {
  // None of n: the upper bound is 1 − failure^(1/n).
  EXPECT_NEAR(clopper_pearson_upper(1000, 0, 1e-6), 1 - std::pow(1e-6, 1e-3), 1e-8);
  EXPECT_NEAR(clopper_pearson_lower(1000, 1000, 1e-6), std::pow(1e-6, 1e-3), 1e-8);
  EXPECT_EQ(clopper_pearson_lower(1000, 0, 1e-6), 0);
  EXPECT_EQ(clopper_pearson_upper(1000, 1000, 1e-6), 1);
  // 95 % two-sided interval of 3 of 10, as in every textbook.
  EXPECT_NEAR(clopper_pearson_lower(10, 3, 0.025), 0.0667, 1e-4);
  EXPECT_NEAR(clopper_pearson_upper(10, 3, 0.025), 0.6525, 1e-4);
  const double low = clopper_pearson_lower(200'000, 321, 1e-6);
  EXPECT_NEAR(binomial_at_least(200'000, 321, low) / 1e-6, 1, 1e-4);
  EXPECT_LE(binomial_at_least(200'000, 321, low), 1e-6);
}

TEST(NormalQuantile, InvertsTheNormalLawDeepIntoBothTails) {
  for (const double p : {1e-300, 1e-30, 1e-8, 0.01, 0.3, 0.5}) {
    EXPECT_NEAR(log_normal_below(normal_quantile(p)) / std::log(p), 1, 1e-12) << p;
  }
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_EQ(normal_quantile(0), -infinity);
  EXPECT_EQ(normal_quantile(1), infinity);
}

TEST(GaussianTradeoff, RatesOnTheCurveGiveItsMu) {
  for (const double threshold : {-1.0, 0.3, 2.0}) {
    EXPECT_NEAR(mu_of_rates(normal_below(0.7 - threshold), normal_below(-threshold)), 0.7, 1e-12);
  }
  EXPECT_EQ(mu_of_rates(0.2, 0.4), 0);
  EXPECT_NEAR(epsilon_of_mu(1, 1e-5).value(), 4.377, 1e-3);
  EXPECT_EQ(epsilon_of_mu(0, 1e-5).value(), 0);
}

PairSample gaussian_pair(double apart, std::size_t size, std::uint64_t seed) {
  SeededRandom random(seed, Purpose::test);
  PairSample sample;
  for (std::size_t i = 0; i < size; ++i) {
    sample.first.push_back(apart + normal(random));
    sample.second.push_back(normal(random));
  }
  return sample;
}

TEST(ThresholdEvent, FindsTheStatisticAndTheDirectionThatSeparate) {
  const PairSample useless = gaussian_pair(0, 2000, 1);
  const PairSample useful = gaussian_pair(-2, 2000, 2);  // small on the first neighbour
  const std::vector<PairSample> candidates{useless, useful};
  const ThresholdEvent event = choose_event(
      candidates, 1e-6, [](const RateBounds& rates) { return mu_of_rates(rates.likely, rates.unlikely); });
  EXPECT_EQ(event.statistic, 1U);
  EXPECT_NE(event.above, event.likely_first);
  const RateBounds rates = bound_rates(event, gaussian_pair(-2, 2000, 3), 1e-6);
  const double mu = mu_of_rates(rates.likely, rates.unlikely);
  EXPECT_GT(mu, 1.5);
  EXPECT_LT(mu, 2);
}

// Over many small audits of a loss that is exactly ε the bound may exceed it as often as stated, not more.
// 400 audits at failure 0.1: 40 expected at most, 75 has probability below 1e-6.
TEST(ThresholdEvent, ErrsNoMoreOftenThanStated) {
  const double epsilon = 1, keep = std::exp(epsilon) / (1 + std::exp(epsilon)), failure = 0.1;
  int wrong = 0, useful = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SeededRandom random(seed, Purpose::test);
    const auto draw = [&] {
      PairSample sample;
      for (int i = 0; i < 300; ++i) {
        sample.first.push_back(bernoulli(random, keep) ? 1 : 0);
        sample.second.push_back(bernoulli(random, keep) ? 0 : 1);
      }
      return sample;
    };
    const PairSample choosing = draw(), judging = draw();
    const ThresholdEvent event = choose_event(
        std::span(&choosing, 1), failure, [](const RateBounds& rates) { return epsilon_of_rates(rates, 0); });
    const double bound = epsilon_of_rates(bound_rates(event, judging, failure), 0);
    wrong += bound > epsilon ? 1 : 0;
    useful += bound > 0.6 * epsilon ? 1 : 0;
  }
  EXPECT_LT(wrong, 75);
  EXPECT_GT(useful, 300);
}

}  // namespace
}  // namespace sotto::privacy
