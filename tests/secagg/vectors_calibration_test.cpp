#include <gtest/gtest.h>

#include "secagg/vectors/calibrated_plan.h"

namespace sotto::secagg {
namespace {

constexpr TrainingBudget budget{
    .epsilon = 4, .delta = 1e-6, .participations = 6, .dropping = 0.1, .corrupted = 0.1};

TEST(CalibratedPlan, MeetsTheBudgetWithNoMoreNoiseThanNeeded) {
  const auto calibrated = calibrated_plan(budget, {100, 10'000, 500, 40}).value();
  EXPECT_LE(calibrated.guarantee.server.epsilon, 4);
  EXPECT_GT(calibrated.guarantee.server.epsilon, 3.99);
  EXPECT_EQ(calibrated.plan.settings().devices, 500U);
  EXPECT_EQ(calibrated.plan.settings().dropped, 50U);
  EXPECT_LE(calibrated.plan.modulus().bits(), 18U);
}

TEST(CalibratedPlan, GivesEveryGroupOfACohortTheWholeNoise) {
  const auto whole = calibrated_plan(budget, {100, 10'000, 500, 40}).value();
  const auto groups = calibrated_plan(budget, {100, 10'000, 500, 40, 100}).value();
  EXPECT_EQ(groups.plan.settings().devices, 100U);
  EXPECT_EQ(groups.plan.settings().denominator, 500);
  EXPECT_EQ(groups.plan.noise_share()->surely_present(), 80U);
  // A device is in one group, whose sum is seen: the noise over what it can move is the same.
  EXPECT_NEAR(groups.plan.settings().noise_multiplier, whole.plan.settings().noise_multiplier, 1e-3);
  EXPECT_LE(groups.guarantee.server.epsilon, 4);
}

TEST(CalibratedPlan, RefusesABudgetThatIsNotGiven) {
  const auto refused = calibrated_plan({.delta = 1e-6}, {100, 10'000, 500, 40});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--epsilon"), std::string::npos);
}

}  // namespace
}  // namespace sotto::secagg
