// One-run audits: the bounds are the theorems' and err no more often than stated; a sound training passes,
// planted faults are found.
#include <gtest/gtest.h>

#include "base/distributions.h"
#include "privacy/accounting/log_math.h"
#include "privacy/audit/gaussian_tradeoff.h"
#include "privacy/audit/one_run_audit.h"
#include "privacy/audit/synthetic_training.h"
#include "privacy/audit/threshold_event.h"

namespace sotto::privacy {
namespace {

// The theorem as printed, in long double and without any care for speed.
double p_value_by_definition(const Guesses& guesses, double epsilon, double delta) {
  const long double q = 1 / (1 + std::exp(-static_cast<long double>(epsilon)));
  std::vector<long double> mass(guesses.made + 1);
  for (std::uint64_t k = 0; k <= guesses.made; ++k) {
    long double value = 1;
    for (std::uint64_t i = 0; i < k; ++i) value *= q * static_cast<long double>(guesses.made - i) / (i + 1);
    for (std::uint64_t i = k; i < guesses.made; ++i) value *= 1 - q;
    mass[k] = value;
  }
  const auto between = [&](std::uint64_t from, std::uint64_t to) {
    long double sum = 0;
    for (std::uint64_t k = from; k < to; ++k) sum += mass[k];
    return sum;
  };
  long double steepest = 0;
  for (std::uint64_t i = 1; i <= guesses.right; ++i) {
    steepest = std::max(steepest, between(guesses.right - i, guesses.right) / i);
  }
  const long double p = between(guesses.right, guesses.made + 1) + 2 * delta * guesses.canaries * steepest;
  return static_cast<double>(std::min(1.0L, p));
}

TEST(OneRunBound, ComputesTheTheoremOfSteinkeNasrAndJagielski) {
  for (const Guesses& guesses : {Guesses{100, 60, 55}, Guesses{200, 50, 50}, Guesses{150, 150, 90}}) {
    for (const double epsilon : {0.0, 0.5, 2.0, 5.0}) {
      for (const double delta : {0.0, 1e-6, 1e-3}) {
        const double expected = p_value_by_definition(guesses, epsilon, delta);
        EXPECT_NEAR(one_run_p_value(guesses, epsilon, delta) / expected, 1, 1e-9);
      }
    }
  }
}

TEST(OneRunBound, StaysFiniteAndOrderedForLongRuns) {
  const Guesses all_right{100'000, 100'000, 100'000};
  const double bound = one_run_epsilon(all_right, 0, 1e-6);
  // q^r = failure
  const double q = std::pow(1e-6, 1e-5);
  EXPECT_NEAR(bound, std::log(q / (1 - q)), 1e-3);
  EXPECT_LE(one_run_epsilon(all_right, 1e-12, 1e-6), bound);
  EXPECT_EQ(one_run_epsilon({1000, 1000, 500}, 0, 1e-6), 0);
  EXPECT_EQ(one_run_epsilon({1000, 0, 0}, 0, 1e-6), 0);
  EXPECT_EQ(one_run_mu({1000, 0, 0}, 1e-6), 0);
  // δ of the order of failure/m: nothing is left to prove.
  EXPECT_EQ(one_run_epsilon({1000, 1000, 1000}, 1e-3, 1e-6), 0);
}

// Randomised response on every canary has exactly the binomial law, so whatever probability that law gives
// must not be called smaller.
TEST(OneRunBound, TradeoffFormNeverContradictsAPossibleLaw) {
  const std::uint64_t canaries = 200;
  for (const double epsilon : {0.3, 1.0, 3.0}) {
    const auto least = [epsilon](double share) { return std::exp(-epsilon) * share; };
    for (std::uint64_t right = 1; right <= canaries; ++right) {
      const double possible = binomial_at_least(canaries, right, 1 / (1 + std::exp(-epsilon)));
      if (possible < 1e-100) continue;
      EXPECT_FALSE(one_run_refutes({canaries, canaries, right}, least, possible)) << right;
      if (possible < 0.01) {
        EXPECT_TRUE(one_run_refutes({canaries, canaries, right}, least, std::min(1.0, 5 * possible)))
            << right;
      }
    }
  }
  for (const double mu :
       {0.3, 1.0, 2.0}) {  // the same for independent Gaussian canaries, guessed by the better side
    const auto least = [mu](double share) { return normal_below(normal_quantile(share) - mu); };
    for (std::uint64_t right = 1; right <= canaries; ++right) {
      const double possible = binomial_at_least(canaries, right, normal_below(mu / 2));
      if (possible < 1e-100) continue;
      EXPECT_FALSE(one_run_refutes({canaries, canaries, right}, least, possible)) << right;
    }
  }
}

// 400 runs at failure 0.1: 40 errors expected at most, 75 has probability below 1e-6.
TEST(OneRunBound, ErrsNoMoreOftenThanStated) {
  const double epsilon = 1, keep = 1 / (1 + std::exp(-epsilon));
  int wrong = 0, useful = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SeededRandom random(seed, Purpose::test);
    Guesses guesses{300, 300, 0};
    for (int i = 0; i < 300; ++i) guesses.right += bernoulli(random, keep) ? 1 : 0;
    const double bound = one_run_epsilon(guesses, 0, 0.1);
    wrong += bound > epsilon ? 1 : 0;
    useful += bound > 0.6 * epsilon ? 1 : 0;
  }
  EXPECT_LT(wrong, 75);
  EXPECT_GT(useful, 300);
}

class EveryTraining : public ::testing::TestWithParam<std::size_t> {};

TEST_P(EveryTraining, PassesWhenSoundAndIsCaughtWhenFaulty) {
  const TrainingEntry& entry = audited_trainings()[GetParam()];
  const auto training = entry.make();
  const auto result =
      audit_one_run(*training, 3, static_cast<std::uint32_t>(GetParam()), 1e-6 / audited_trainings().size());
  ASSERT_TRUE(result.has_value()) << result.error().message;
  const AuditFinding& finding = result->finding;
  EXPECT_EQ(finding.refuted(), entry.planted_fault)
      << "claimed " << finding.claim.epsilon << ", at least " << finding.best();
  EXPECT_GT(finding.epsilon, 0);
  EXPECT_GT(result->guesses.right * 2, result->guesses.made);
  if (finding.claim.holds) {
    EXPECT_LE(finding.best(), *finding.claim.holds);
    EXPECT_GE(finding.share(), 0.25);
  }
}

INSTANTIATE_TEST_SUITE_P(Audit, EveryTraining, ::testing::Range<std::size_t>(0, audited_trainings().size()),
                         [](const ::testing::TestParamInfo<std::size_t>& which) {
                           std::string name = audited_trainings()[which.param].name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(OneRunAudit, FindsMissingNoiseWithoutAnyAssumption) {
  SyntheticTraining training(
      {.noise_multiplier = 2.8, .rounds = 4, .fault = SyntheticTraining::Fault::noise_missing});
  const auto result = audit_one_run(training, 4, 0, 1e-6);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_GT(result->finding.epsilon, result->finding.claim.epsilon);
  EXPECT_GT(*result->finding.mu, *result->finding.claim.mu);
}

TEST(OneRunAudit, FindsHalvedNoiseWithoutAnyAssumptionWhereTheClaimIsPure) {
  SyntheticTraining training({.noise = SumNoise::laplace_at_server,
                              .noise_multiplier = 2,
                              .rounds = 2,
                              .fault = SyntheticTraining::Fault::noise_halved});
  const auto result = audit_one_run(training, 4, 0, 1e-6);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_FALSE(result->finding.parametric.has_value());
  EXPECT_GT(result->finding.epsilon, result->finding.claim.epsilon);
}

// A training that plugs in from outside: scores that know nothing prove nothing.
class Blind final : public CanaryTraining {
 public:
  explicit Blind(std::uint64_t canaries, double score = 0) : canaries_(canaries), score_(score) {}
  std::uint64_t canaries() const override { return canaries_; }
  Result<AuditClaim> claim() const override { return AuditClaim{.epsilon = 0.5}; }
  Status train(std::span<const unsigned char>, DeviceRandom) override { return {}; }
  Result<std::vector<double>> scores() const override { return std::vector<double>(canaries_, score_); }

 private:
  std::uint64_t canaries_;
  double score_;
};

TEST(OneRunAudit, ProvesNothingFromScoresThatKnowNothing) {
  Blind training(1000);
  EXPECT_EQ(audit_one_run(training, 1, 0, 1e-6)->finding.epsilon, 0);
}

TEST(OneRunAudit, RefusesTooFewCanariesAndScoresThatAreNotNumbers) {
  Blind few(99), broken(1000, std::nan("")), fine(1000);
  EXPECT_EQ(audit_one_run(few, 1, 0, 1e-6).error().kind, ErrorKind::bad_input);
  EXPECT_EQ(audit_one_run(broken, 1, 0, 1e-6).error().kind, ErrorKind::failed);
  EXPECT_EQ(audit_one_run(fine, 1, 0, 0).error().kind, ErrorKind::bad_input);
}

TEST(SyntheticTraining, ScoresOnlyAfterTraining) {
  const SyntheticTraining training({.noise_multiplier = 1, .rounds = 1});
  EXPECT_FALSE(training.scores().has_value());
}

}  // namespace
}  // namespace sotto::privacy
