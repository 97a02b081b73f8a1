#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/progress.h"
#include "privacy/accounting/gaussian_exact.h"
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

// Numbers, users, cohort, rounds: small and large models, few and many devices.
constexpr TrainingShape shapes[] = {
    {200, 20'000, 10'000, 30},          {20'000, 4'800, 100, 100},      {1'000'000, 50'000, 50, 100},
    {1'000'000, 100'000, 1'000, 1'000}, {3'000'000, 500'000, 500, 300},
};

// By the closed form: what the same ε costs in noise that is drawn exactly, in numbers that are not rounded.
double exact_gaussian_noise(double epsilon, double delta, std::uint64_t times) {
  return privacy::gaussian_noise_for(epsilon, delta).value() * std::sqrt(static_cast<double>(times));
}

TEST(CalibratedPlan, SpendsAnyEpsilonWhateverTheSizeOfTheTraining) {
  for (const TrainingShape& shape : shapes) {
    double last = INFINITY;
    for (const double epsilon : {2.0, 8.0, 20.0, 32.0}) {
      TrainingBudget asked = budget;
      asked.epsilon = epsilon;
      asked.bits = 22;
      const auto calibrated = calibrated_plan(asked, shape);
      ASSERT_TRUE(calibrated) << calibrated.error().message;
      const std::string what = fmt::format("{} numbers, epsilon {}", shape.dimension, epsilon);
      EXPECT_LE(calibrated->guarantee.server.epsilon, epsilon) << what;
      EXPECT_GE(calibrated->guarantee.server.epsilon, 0.999 * epsilon) << what;
      const double noise = calibrated->plan.settings().noise_multiplier;
      const double exact = exact_gaussian_noise(epsilon, asked.delta, asked.participations);
      EXPECT_GE(noise, exact * 0.999) << what << ": less noise than Gaussian noise needs";
      EXPECT_LE(noise, exact * 1.02) << what;
      EXPECT_LT(noise, last) << what;
      last = noise;
    }
  }
}

// DP-PrivRec at ε = 1 against the server: 100 rounds of 1,000 of 4,832 users.
TEST(CalibratedPlan, NoiseThatTheBitsCannotHoldIsRefusedWithTheBitsThatCan) {
  const TrainingShape shape{300'000, 4'832, 1'000, 100};
  TrainingBudget asked{.epsilon = 1, .delta = 1e-6, .bits = 18, .bound_follows = true};
  const auto refused = calibrated_plan(asked, shape);
  ASSERT_FALSE(refused);
  const std::string& message = refused.error().message;
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
  const auto at = message.find("With bits=");
  ASSERT_NE(at, std::string::npos) << message;
  asked.bits = static_cast<unsigned>(std::stoul(message.substr(at + 10)));
  EXPECT_GT(asked.bits, 18U);
  const auto held = calibrated_plan(asked, shape);
  ASSERT_TRUE(held) << held.error().message;
  EXPECT_LE(held->guarantee.server.epsilon, 1);
  EXPECT_GT(held->guarantee.server.epsilon, 0.99);
  --asked.bits;
  EXPECT_FALSE(calibrated_plan(asked, shape)) << "as the message says";
}

// How many amounts of noise were tried, as the bar of a calibration says.
std::uint64_t amounts_tried(const TrainingBudget& asked, const TrainingShape& shape) {
  set_progress_style(ProgressStyle::bar);
  ::testing::internal::CaptureStderr();
  const auto calibrated = calibrated_plan(asked, shape);
  const std::string bar = ::testing::internal::GetCapturedStderr();
  set_progress_style(ProgressStyle::automatic);
  const std::string label = "calibrating  ";
  const auto last = bar.rfind(label);
  return last == std::string::npos ? 0 : std::stoull(bar.substr(last + label.size()));
}

// A hundred million rounds took more than ten minutes.
TEST(CalibratedPlan, AsManyRoundsAsCanBeAskedForAreAnsweredAfterAsFewAmountsOfNoiseAsAHundred) {
  for (const privacy::Adversary against : {privacy::Adversary::server, privacy::Adversary::published}) {
    TrainingBudget asked{.epsilon = 8, .delta = 1e-6, .bits = 22};
    asked.against = against;
    const auto few = amounts_tried(asked, {1'000, 10'000, 500, 100});
    const auto many = amounts_tried(asked, {1'000, 10'000, 500, 100'000'000});
    EXPECT_GT(few, 5U);
    EXPECT_GT(many, 5U);
    EXPECT_LE(few, 60U);
    EXPECT_LE(many, 150U) << "a refusal also looks for the bits that can hold it";
  }
}

TEST(CalibratedPlan, RefusesABudgetThatIsNotGiven) {
  const auto refused = calibrated_plan({.delta = 1e-6}, {100, 10'000, 500, 40});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--epsilon"), std::string::npos);
}

}  // namespace
}  // namespace sotto::secagg
