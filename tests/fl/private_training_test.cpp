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

// The shares are assumptions about each cohort, which the server picks: the page says so.
TEST(PrivateTraining, ThePageSaysThatAccomplicesAndLossesOfACohortAreAssumed) {
  const auto page = PrivateTraining::calibrate(budget(4, "server"), shape).value().datasheet("test");
  const auto text = privacy::to_text(page);
  EXPECT_NE(
      text.find("a device in a cohort with more accomplices of the server, or more that vanish, than the "
                "plan reckons with: the server picks the cohorts"),
      std::string::npos)
      << text;
  ASSERT_EQ(page.sums.size(), 1U);
  EXPECT_GT(page.sums.front().corrupted, 0U) << "what the plan reckons with";
  EXPECT_GT(page.sums.front().dropped, 0U);
}

// A cap chosen without looking at ε let no answer exceed 7.113, and all of the samplers' distance from their
// laws, charged with e^ε, none exceed 19.5.
TEST(PrivateTraining, ALargeBudgetIsSpentToo) {
  double last = std::numeric_limits<double>::infinity();
  for (const double epsilon : {5.0, 10.0, 20.0, 32.0}) {
    const auto training = PrivateTraining::calibrate(budget(epsilon), shape).value();
    EXPECT_LE(training.guarantee.published.epsilon, epsilon);
    EXPECT_GT(training.guarantee.published.epsilon, 0.999 * epsilon);
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
