// What must hold for every plan: more noise, fewer rounds, a larger δ and a smaller sample never cost more;
// the accountants never contradict each other.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "account_events.h"
#include "base/distributions.h"
#include "privacy/accounting/account.h"

namespace sotto::privacy {
namespace {

using namespace account_test;

// Twenty-five plans spread over the ranges that training uses, the same in every run.
struct RandomPlan {
  double noise, rate, delta;
  std::uint64_t rounds;
};

std::vector<RandomPlan> random_plans(std::uint64_t seed) {
  SeededRandom random(seed, Purpose::test);
  const auto between = [&](double low, double high) { return low * std::pow(high / low, uniform01(random)); };
  std::vector<RandomPlan> plans;
  plans.reserve(25);
  for (int i = 0; i < 25; ++i) {
    plans.push_back({between(0.6, 8), between(0.003, 1), between(1e-10, 1e-2),
                     static_cast<std::uint64_t>(between(1, 400))});
  }
  return plans;
}

double epsilon_of(const RandomPlan& plan, Method method) {
  const Events events{sampled_gaussian(plan.noise, plan.rate, plan.rounds)};
  PldTarget upper_only;
  upper_only.with_lower_bound = false;
  const auto answer = account(events, plan.delta, method, Adversary::published, upper_only);
  EXPECT_TRUE(answer);
  return answer ? answer->epsilon : NAN;
}

void expect_monotone(const RandomPlan& plan, Method method, double tolerance) {
  const double epsilon = epsilon_of(plan, method);
  const double slack = tolerance * epsilon + 1e-6;
  RandomPlan other = plan;
  other.noise *= 1.2;
  EXPECT_LE(epsilon_of(other, method), epsilon + slack);
  other = plan;
  other.rate = plan.rate * 0.8;
  EXPECT_LE(epsilon_of(other, method), epsilon + slack);
  other = plan;
  other.rounds += 1 + plan.rounds / 4;
  EXPECT_GE(epsilon_of(other, method), epsilon - slack);
  other = plan;
  other.delta *= 2;
  EXPECT_LE(epsilon_of(other, method), epsilon + slack);
}

TEST(AccountProperties, RdpIsMonotone) {
  for (const auto& plan : random_plans(1)) expect_monotone(plan, Method::rdp, 1e-6);
}
TEST(AccountProperties, PldIsMonotone) {
  for (const auto& plan : random_plans(2)) expect_monotone(plan, Method::pld, 1e-3);
}

TEST(AccountProperties, PldLiesBelowRdpAndItsLowerBoundBelowEverything) {
  for (const auto& plan : random_plans(3)) {
    const Events events{sampled_gaussian(plan.noise, plan.rate, plan.rounds)};
    const auto pld = account(events, plan.delta, Method::pld, Adversary::published);
    const auto rdp = account(events, plan.delta, Method::rdp, Adversary::published);
    const auto classical = account(events, plan.delta, Method::rdp_classical, Adversary::published);
    ASSERT_TRUE(pld && rdp && classical && pld->epsilon_lower);
    EXPECT_LE(*pld->epsilon_lower, pld->epsilon);
    EXPECT_LE(*pld->epsilon_lower, rdp->epsilon + 1e-9);
    EXPECT_LE(pld->epsilon, rdp->epsilon * (1 + 1e-3) + 1e-4);
    EXPECT_LE(rdp->epsilon, classical->epsilon + 1e-12);
  }
}

TEST(AccountProperties, SplittingAndReorderingEventsChangesNothing) {
  for (const auto& plan : random_plans(4)) {
    const std::uint64_t part = 1 + plan.rounds / 3;
    const PrivacyEvent whole = sampled_gaussian(plan.noise, plan.rate, plan.rounds + part);
    const PrivacyEvent left = sampled_gaussian(plan.noise, plan.rate, plan.rounds);
    const PrivacyEvent right = sampled_gaussian(plan.noise, plan.rate, part);
    for (const Method method : {Method::rdp, Method::pld}) {
      const auto once = account(Events{whole}, plan.delta, method, Adversary::published);
      const auto split = account(Events{left, right}, plan.delta, method, Adversary::published);
      const auto swapped = account(Events{right, left}, plan.delta, method, Adversary::published);
      ASSERT_TRUE(once && split && swapped);
      EXPECT_NEAR(once->epsilon, split->epsilon, 1e-3 * once->epsilon + 1e-4);
      EXPECT_NEAR(swapped->epsilon, split->epsilon, 1e-3 * once->epsilon + 1e-4);
    }
  }
}

TEST(AccountProperties, ComposingTwoPlansCostsAtMostTheirSumAndAtLeastEither) {
  const auto firsts = random_plans(5);
  const auto seconds = random_plans(6);
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const PrivacyEvent first = sampled_gaussian(firsts[i].noise, firsts[i].rate, firsts[i].rounds);
    const PrivacyEvent second = sampled_gaussian(seconds[i].noise, seconds[i].rate, seconds[i].rounds);
    const auto sum = account(Events{first, second}, 2e-6, Method::pld, Adversary::published);
    const auto both = account(Events{first, second}, 1e-6, Method::pld, Adversary::published);
    const auto one = account(Events{first}, 1e-6, Method::pld, Adversary::published);
    const auto two = account(Events{second}, 1e-6, Method::pld, Adversary::published);
    ASSERT_TRUE(sum && both && one && two);
    EXPECT_LE(sum->epsilon, (one->epsilon + two->epsilon) * (1 + 2e-3) + 2e-4);
    EXPECT_GE(both->epsilon, std::max(*one->epsilon_lower, *two->epsilon_lower));
  }
}

}  // namespace
}  // namespace sotto::privacy
