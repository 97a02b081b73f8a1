// A budget becomes the least noise that keeps it, and what was calibrated is what the accountant says.

#include "fl/private_training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/interrupt.h"
#include "privacy/accounting/account.h"
#include "test_paths.h"

namespace sotto::fl {
namespace {

constexpr TrainingShape shape{5000, 200'000, 100, 1000};

PrivateTrainingSettings budget(double epsilon, std::string against = "published") {
  PrivateTrainingSettings settings;
  settings.epsilon = epsilon;
  settings.against = std::move(against);
  return settings;
}

TEST(PrivateTraining, SpendsTheBudgetAndNotMore) {
  for (const char* against : {"published", "server"}) {
    const auto training = PrivateTraining::calibrate(budget(4, against), shape).value();
    const double spent = std::string(against) == "server" ? training.guarantee.server.epsilon
                                                          : training.guarantee.published.epsilon;
    EXPECT_LE(spent, 4);
    EXPECT_GT(spent, 3.95) << against;
    EXPECT_GE(training.guarantee.server.epsilon, training.guarantee.published.epsilon);
  }
}

TEST(PrivateTraining, ASmallerBudgetAndAStrongerAdversaryTakeMoreNoise) {
  const auto noise = [](double epsilon, const char* against) {
    return PrivateTraining::calibrate(budget(epsilon, against), shape)
        .value()
        .plan.settings()
        .noise_multiplier;
  };
  EXPECT_GT(noise(2, "published"), noise(4, "published"));
  EXPECT_GT(noise(4, "server"), noise(4, "published"));
}

TEST(PrivateTraining, TheSavedPlanAccountsForTheSameEpsilon) {
  const TempFolder folder;
  const auto training = PrivateTraining::calibrate(budget(4, "server"), shape).value();
  ASSERT_TRUE(privacy::save_plan(training.accounted, folder / "privacy.toml"));
  privacy::PrivacyPlan plan;
  SettingsTable table;
  plan.bind(table);
  ASSERT_TRUE(table.load_toml(folder / "privacy.toml"));
  const auto answer = privacy::account(plan).value();
  EXPECT_NEAR(answer.published.epsilon, training.guarantee.published.epsilon, 1e-3);
  ASSERT_TRUE(answer.server);
  EXPECT_NEAR(answer.server->epsilon, training.guarantee.server.epsilon, 1e-3);
}

TEST(PrivateTraining, SaysNoneWhereNothingHoldsAgainstTheServer) {
  // So little noise is needed for what is published that the server, who sees it unsampled, learns too much
  // for any bound.
  const auto training = PrivateTraining::calibrate(budget(4), shape).value();
  EXPECT_TRUE(std::isinf(training.guarantee.server.epsilon));
  EXPECT_FALSE(training.datasheet("test").epsilon_server);
  EXPECT_NE(privacy::to_text(training.datasheet("test")).find("none against the server"), std::string::npos);
  EXPECT_NE(training.datasheet("test").not_protected.back().find("--against server"), std::string::npos)
      << "the page says why, and what to do";
  const auto enough = PrivateTraining::calibrate(budget(4, "server"), shape).value();
  EXPECT_EQ(privacy::to_text(enough.datasheet("test")).find("--against server"), std::string::npos);
}

// The plans that recipes make by default: rounds and cohorts as they bind them, users as of usual data sets.
struct DefaultPlan {
  const char* recipe;
  TrainingShape shape;
  double clip_quantile;
};
const DefaultPlan default_plans[] = {
    {"sotto", {200, 20'000, 10'000, 30}, 0},
    {"fednewsrec, privaterec, dp-fedrec", {1'000'000, 50'000, 50, 100}, 0},
    {"efficient-fedrec", {400'000, 10'000, 50, 100}, 0},
    {"dp-privrec", {20'000, 4'800, 100, 100}, 0.5},
};

// Of the Gaussian mechanism itself, drawn the same way, at the same δ.
double exact_gaussian_noise(double epsilon, double delta, const TrainingShape& asked, bool server,
                            std::uint64_t cap) {
  return privacy::smallest_noise(
             epsilon,
             [&](double noise) -> Result<double> {
               privacy::PrivacyEvent event{privacy::GaussianNoise{noise}, privacy::Adjacency::replace_one,
                                           privacy::Unit::user};
               event.count = server ? std::min(cap, asked.rounds) : asked.rounds;
               if (!server)
                 event.sampling = privacy::SamplingWithoutReplacement{asked.cohort, asked.population};
               SOTTO_TRY(const auto holds, privacy::account_best({&event, 1}, delta,
                                                                 server ? privacy::Adversary::server
                                                                        : privacy::Adversary::published));
               return holds.epsilon;
             })
      .value();
}

TEST(PrivateTraining, EveryDefaultPlanHasTheNoiseOfTheExactGaussianWithinTwoPercent) {
  for (const DefaultPlan& plan : default_plans) {
    for (const char* against : {"published", "server"}) {
      PrivateTrainingSettings settings = budget(8, against);
      settings.clip_quantile = plan.clip_quantile;
      const auto training = PrivateTraining::calibrate(settings, plan.shape).value();
      const double exact =
          exact_gaussian_noise(8, settings.delta, plan.shape, settings.against == "server",
                               static_cast<std::uint64_t>(training.accounted.participations));
      const double ratio = training.plan.settings().noise_multiplier / exact;
      EXPECT_LT(ratio, 1.02) << plan.recipe << ", " << against;
      EXPECT_GT(ratio, 0.999) << plan.recipe << ", " << against << ": less noise than Gaussian noise needs";
    }
  }
}

// A cap chosen without looking at ε let no answer exceed 7.113.
TEST(PrivateTraining, ALargeBudgetIsSpentToo) {
  double last = std::numeric_limits<double>::infinity();
  for (const double epsilon : {5.0, 10.0, 20.0}) {
    const auto training = PrivateTraining::calibrate(budget(epsilon), shape).value();
    EXPECT_LE(training.guarantee.published.epsilon, epsilon);
    // At 20 the samplers' distance from their laws, charged with e^ε, leaves 19.5.
    EXPECT_GT(training.guarantee.published.epsilon, 0.97 * epsilon);
    EXPECT_LT(training.plan.settings().noise_multiplier, last) << epsilon;
    last = training.plan.settings().noise_multiplier;
  }
}

// The server's view is a closed form and tails of counts are not summed from far below their mean: a hundred
// million rounds took more than ten minutes to be calibrated.
TEST(PrivateTraining, SoManyRoundsThatNoGridHoldsTheirNoiseAreRefusedWithTheirNumber) {
  const auto refused = PrivateTraining::calibrate(budget(8, "server"), {200, 2000, 1000, 100'000'000});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
  EXPECT_NE(refused.error().message.find("100000000 rounds"), std::string::npos) << refused.error().message;
}

TEST(PrivateTraining, CalibrationStopsWhenItIsInterrupted) {
  int calls = 0;
  const auto stopped = privacy::smallest_noise(8, [&](double noise) -> Result<double> {
    if (++calls == 3) set_interrupted(true);
    return 100 / noise;
  });
  set_interrupted(false);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::failed);
  EXPECT_EQ(calls, 3);
}

TEST(PrivateTraining, RefusesToRunWithoutABudget) {
  const auto refused = PrivateTraining::calibrate(PrivateTrainingSettings{}, shape);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--epsilon"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace sotto::fl
