// A device refuses a plan that is weaker than the one it agreed to.

#include <gtest/gtest.h>

#include "secagg/vectors/plan_agreement.h"

namespace sotto::secagg {
namespace {

EncodingPlan::Settings agreed_settings() {
  EncodingPlan::Settings settings;
  settings.dimension = 50, settings.clip = 1, settings.denominator = settings.devices = 100;
  settings.dropped = 10, settings.corrupted = 10, settings.noise_multiplier = 1;
  settings.adjacency = privacy::Adjacency::replace_one;
  settings.step = 1e-3;
  return settings;
}

EncodingPlan plan_of(const EncodingPlan::Settings& settings) {
  return EncodingPlan::create(settings).value();
}

std::string refusal(const EncodingPlan::Settings& settings) {
  const auto checked = PlanAgreement::to(plan_of(agreed_settings())).check(plan_of(settings));
  return checked ? "" : checked.error().message;
}

TEST(PlanAgreement, AcceptsTheSameAndStrongerPlans) {
  EXPECT_EQ(refusal(agreed_settings()), "");
  auto stronger = agreed_settings();
  stronger.noise_multiplier = 2, stronger.devices = 200, stronger.dropped = 50, stronger.corrupted = 40;
  EXPECT_EQ(refusal(stronger), "");
  auto other = agreed_settings();  // a larger clip has larger noise
  other.clip = 7, other.dimension = 3;
  EXPECT_EQ(refusal(other), "");
}

TEST(PlanAgreement, NamesTheNumberThatIsWeaker) {
  const auto weaker = [](auto change) {
    auto settings = agreed_settings();
    change(settings);
    return refusal(settings);
  };
  const auto names = [](const std::string& message, const char* words) {
    return message.find(words) != std::string::npos && message.find("agreed to") != std::string::npos;
  };
  EXPECT_TRUE(names(weaker([](auto& plan) { plan.noise_multiplier = 0.99; }), "noise over the sensitivity"));
  EXPECT_TRUE(names(weaker([](auto& plan) { plan.noise_multiplier = 0; }), "noise over the sensitivity"));
  EXPECT_TRUE(names(weaker([](auto& plan) { plan.devices = 99, plan.dropped = 10, plan.corrupted = 10; }),
                    "group of devices"));
  EXPECT_TRUE(names(weaker([](auto& plan) { plan.dropped = 9; }), "may vanish"));
  EXPECT_TRUE(names(weaker([](auto& plan) { plan.corrupted = 0; }), "may be corrupted"));
  EXPECT_TRUE(
      names(weaker([](auto& plan) { plan.adjacency = privacy::Adjacency::add_remove; }), "neighbours"));
}

}  // namespace
}  // namespace sotto::secagg
