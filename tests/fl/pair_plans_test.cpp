// One budget for two sums: what is calibrated is what the accountant says of both releases together.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/random.h"
#include "fl/pair_fold.h"
#include "fl/pair_spectrum.h"
#include "fl/random_pairs.h"
#include "local/item_sums.h"
#include "privacy/accounting/account.h"
#include "privacy/accounting/gaussian_exact.h"
#include "secagg/vectors/update_encoding.h"
#include "test_paths.h"

namespace sotto::fl {
namespace {

constexpr SumsShape shape{300, 30, 500, 4};

PrivateTrainingSettings budget(double epsilon) {
  PrivateTrainingSettings settings;
  settings.epsilon = epsilon;
  settings.bits = 28;
  return settings;
}

TwoPrivateSums calibrated(double epsilon, double counts_noise = 4) {
  SumsShape asked = shape;
  asked.counts_noise = counts_noise;
  return TwoPrivateSums::calibrate(budget(epsilon), asked).value();
}

TEST(TwoPrivateSums, TheDatasheetsEpsilonIsThatOfBothReleases) {
  const auto sums = calibrated(4);
  const std::array both = {*sums.plans.counts.event(), *sums.plans.pairs.event()};
  const double epsilon = privacy::account_best(both, 1e-6, privacy::Adversary::server)->epsilon;
  const auto sheet = sums.datasheet("test");
  EXPECT_DOUBLE_EQ(*sheet.epsilon_server, epsilon);
  EXPECT_DOUBLE_EQ(*sheet.epsilon_published, epsilon);
  EXPECT_LE(epsilon, 4);
  EXPECT_GT(epsilon, 3.95);
  EXPECT_NE(
      privacy::to_text(sheet).find("more accomplices of the server, or more that vanish, than the plan"),
      std::string::npos)
      << "both shares are assumptions about these devices";
  for (const privacy::PrivacyEvent& alone : both)
    EXPECT_LT(privacy::account_best({&alone, 1}, 1e-6, privacy::Adversary::server)->epsilon, epsilon);
}

TEST(TwoPrivateSums, ASmallerBudgetTakesMoreNoiseAndTheCountsTakeTheirMultiple) {
  const auto noise = [](const secagg::EncodingPlan& plan) { return plan.settings().noise_multiplier; };
  const auto tight = calibrated(2), loose = calibrated(4), even = calibrated(4, 1);
  EXPECT_GT(noise(tight.plans.pairs), noise(loose.plans.pairs));
  EXPECT_DOUBLE_EQ(noise(loose.plans.counts), 4 * noise(loose.plans.pairs));
  EXPECT_DOUBLE_EQ(noise(even.plans.counts), noise(even.plans.pairs));
  EXPECT_GT(noise(even.plans.pairs), noise(loose.plans.pairs));
}

TEST(TwoPrivateSums, TheSavedPlanAccountsForTheSameEpsilonAndIsNotReplaced) {
  const TempFolder folder;
  const auto sums = calibrated(4);
  ASSERT_TRUE(privacy::save_plan(sums.accounted, folder / "privacy.toml"));
  privacy::PrivacyPlan plan;
  SettingsTable table;
  plan.bind(table);
  ASSERT_TRUE(table.load_toml(folder / "privacy.toml"));
  const auto answer = privacy::account(plan).value();
  EXPECT_NEAR(answer.published.epsilon, sums.guarantee.epsilon, 1e-3);
  ASSERT_TRUE(answer.server);
  EXPECT_NEAR(answer.server->epsilon, sums.guarantee.epsilon, 1e-3);
  EXPECT_EQ(answer.server->adversary, privacy::Adversary::server);
  EXPECT_TRUE(privacy::save_plan(sums.accounted, folder / "privacy.toml"));
  EXPECT_FALSE(privacy::save_plan(calibrated(2).accounted, folder / "privacy.toml"));
}

// What the device sends before noise, in grid steps.
std::vector<std::int64_t> encoded(const secagg::EncodingPlan& noisy, const std::vector<float>& sent,
                                  std::uint32_t draw) {
  auto settings = noisy.settings();
  settings.noise_multiplier = 0;
  const auto plan = secagg::EncodingPlan::create(settings).value();
  SeededRandom random(9, Purpose::test, draw);
  const auto entries =
      secagg::UpdateEncoder(plan).encode(std::span(sent), privacy::DeviceRandom::simulated(random)).value();
  std::vector<std::int64_t> steps;
  for (const std::uint32_t entry : entries) steps.push_back(plan.modulus().centre(entry));
  return steps;
}

TEST(TwoPrivateSums, OneUserReplacedMovesASumByNoMoreThanWhatIsAccounted) {
  const auto sums = calibrated(4);
  const auto distance = [](const secagg::EncodingPlan& plan, const std::vector<float>& one,
                           const std::vector<float>& other) {
    const auto a = encoded(plan, one, 1), b = encoded(plan, other, 2);
    double squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      squares += static_cast<double>(a[i] - b[i]) * static_cast<double>(a[i] - b[i]);
    const auto event = *plan.event();
    return std::sqrt(squares) / std::get<privacy::SkellamNoise>(event.mechanism).l2_sensitivity;
  };
  // Nothing in common is the worst case, and no more is accounted for than it needs.
  const auto few = local::pair_shares(testing::taste_of({3}, 30)),
             many = local::pair_shares(testing::taste_of({0, 1, 2, 7, 9, 12, 20}, 30));
  const double pairs = distance(sums.plans.pairs, few, many);
  EXPECT_LE(pairs, 1);
  EXPECT_GT(pairs, 0.99);
  const std::vector<local::OwnItem> one = {{17, 1}}, others = {{18, 1}, {200, 0.7F}, {201, 1}};
  const double counts =
      distance(sums.plans.counts, local::item_shares(one, 300), local::item_shares(others, 300));
  EXPECT_LE(counts, 1);
  EXPECT_GT(counts, 0.99);
  EXPECT_LE(distance(sums.plans.pairs, few, local::pair_shares(testing::taste_of({}, 30))), 1);
}

TEST(TwoPrivateSums, HaveTheNoiseOfTheExactGaussianWithinTwoPercent) {
  for (const double epsilon : {0.5, 4.0, 20.0}) {
    const auto sums = calibrated(epsilon);
    const double counts = sums.plans.counts.settings().noise_multiplier,
                 pairs = sums.plans.pairs.settings().noise_multiplier;
    const double together = 1 / std::sqrt(1 / (counts * counts) + 1 / (pairs * pairs));
    const double exact = privacy::gaussian_noise_for(epsilon, budget(epsilon).delta).value();
    EXPECT_LT(together / exact, 1.02) << epsilon;
    EXPECT_GT(together / exact, 1) << epsilon;
  }
}

TEST(TwoPrivateSums, RefusesToRunWithoutABudgetOrWithOneThatNothingReaches) {
  const auto refused = TwoPrivateSums::calibrate(budget(0), shape);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--epsilon"), std::string::npos) << refused.error().message;
  auto hopeless = budget(1);
  hopeless.delta = 1e-40;  // less than what the samplers are off
  EXPECT_FALSE(TwoPrivateSums::calibrate(hopeless, {10, 3, 20, 4}));
}

TEST(TwoPrivateSums, WithoutNoiseThereIsNothingToAccountFor) {
  const auto plans = sums_without_noise(budget(0), shape).value();
  EXPECT_FALSE(plans.counts.event());
  EXPECT_FALSE(plans.pairs.event());
}

}  // namespace
}  // namespace sotto::fl
