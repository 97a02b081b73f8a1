// A budget becomes the least noise that keeps it, and what was calibrated is what the accountant says.

#include "fl/private_training.h"

#include <gtest/gtest.h>

#include <cmath>

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
  EXPECT_NE(training.datasheet("test").not_protected.back().find("against=server"), std::string::npos)
      << "the page says why, and what to do";
  const auto enough = PrivateTraining::calibrate(budget(4, "server"), shape).value();
  EXPECT_EQ(privacy::to_text(enough.datasheet("test")).find("against=server"), std::string::npos);
}

TEST(PrivateTraining, RefusesToRunWithoutABudget) {
  const auto refused = PrivateTraining::calibrate(PrivateTrainingSettings{}, shape);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--epsilon"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace sotto::fl
