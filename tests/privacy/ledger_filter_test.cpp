// A privacy filter holds although every request may depend on all earlier answers.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "ledger_fixture.h"
#include "privacy/accounting/account.h"
#include "privacy/accounting/rdp_accountant.h"
#include "privacy/ledger/spending.h"

namespace sotto::privacy {
namespace {

using namespace ledger_test;

// The best that a server can do which picks the next question, one of two randomised responses, after every
// answer, as long as the filter lets it: the largest δ at the budget's ε, found by trying everything.
class WorstServer {
 public:
  WorstServer(double epsilon, double delta, double first, double second)
      : epsilon_(epsilon), filter_(epsilon, delta), questions_{first, second} {}

  double delta() { return worst(0, 0, 0); }
  int asked() const { return most_asked_; }

 private:
  // δ from here on, when so many of each question were asked and the answers have this loss so far.
  double worst(int uses_first, int uses_second, double loss) {
    most_asked_ = std::max(most_asked_, uses_first + uses_second);
    if (uses_first + uses_second > 2000) return 1;  // a filter that never stops
    const auto key = std::make_tuple(uses_first, uses_second, std::llround(loss * 1e6));
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    double best = std::max(0.0, -std::expm1(epsilon_ - loss));
    for (int i = 0; i < 2; ++i) {
      const int first = uses_first + (i == 0 ? 1 : 0);
      const int second = uses_second + (i == 1 ? 1 : 0);
      if (!allows(first, second)) continue;
      const double e = questions_[static_cast<std::size_t>(i)];
      const double truth = 1 / (1 + std::exp(-e));
      best = std::max(best,
                      truth * worst(first, second, loss + e) + (1 - truth) * worst(first, second, loss - e));
    }
    return known_[key] = best;
  }
  bool allows(int first, int second) const {
    std::vector<PrivacyEvent> events;
    if (first > 0) events.push_back(pure(questions_[0], static_cast<std::uint64_t>(first)));
    if (second > 0) events.push_back(pure(questions_[1], static_cast<std::uint64_t>(second)));
    return within(filter_.spent(events).epsilon, epsilon_);
  }

  double epsilon_;
  PrivacyFilter filter_;
  std::array<double, 2> questions_;
  std::map<std::tuple<int, int, long long>, double> known_;
  int most_asked_ = 0;
};

TEST(PrivacyFilter, HoldsAgainstEveryAdaptiveServer) {
  struct Case {
    double epsilon, delta, first, second;
  };
  for (const Case& c : {Case{1, 0.05, 0.1, 0.3}, Case{0.5, 0.01, 0.05, 0.2}, Case{2, 1e-3, 0.2, 0.5},
                        Case{0.3, 0.1, 0.1, 0.15}, Case{3, 1e-2, 0.25, 1.5}}) {
    WorstServer server(c.epsilon, c.delta, c.first, c.second);
    EXPECT_LE(server.delta(), c.delta) << c.epsilon;
    // The test would pass with a filter that allows next to nothing.
    EXPECT_GT(server.asked() * c.first, c.epsilon) << "not better than a sum";
  }
}

TEST(PrivacyFilter, IsNeverBelowWhatAPlanProves) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<PrivacyEvent> events;
    if (random() % 2 == 0)
      events.push_back(gaussian(1 + static_cast<double>(random() % 40), 1 + random() % 30));
    if (random() % 2 == 0) {
      events.push_back(pure(0.02 * static_cast<double>(1 + random() % 40), 1 + random() % 30));
    }
    events.push_back({RandomisedResponse{0.5, 16}, Adjacency::replace_one, Unit::user, NoSampling{}, 2});
    const double delta = std::pow(10.0, -3.0 - static_cast<double>(random() % 6));
    const double epsilon = 0.5 * static_cast<double>(1 + random() % 20);
    const auto tight = account(events, delta, Method::pld, Adversary::server);
    ASSERT_TRUE(tight) << tight.error().message;
    EXPECT_GE(PrivacyFilter(epsilon, delta).spent(events).epsilon, *tight->epsilon_lower) << round;
  }
}

TEST(PrivacyFilter, LosesLittleAgainstRenyiAccountingWhenTheBudgetIsUsedUp) {
  for (const double epsilon : {0.5, 2.0, 8.0}) {
    const PrivacyFilter filter(epsilon, 1e-6);
    const auto uses_within = [&](auto spent) {
      std::uint64_t uses = 0;
      while (spent(std::vector{gaussian(20, uses + 1)}) <= epsilon) ++uses;
      return uses;
    };
    const auto filtered = uses_within([&](const auto& events) { return filter.spent(events).epsilon; });
    const auto planned = uses_within(
        [](const auto& events) { return account(events, 1e-6, Method::rdp, Adversary::server)->epsilon; });
    EXPECT_LE(filtered, planned);
    EXPECT_GE(static_cast<double>(filtered) + 1, 0.97 * static_cast<double>(planned)) << epsilon;
  }
}

TEST(PrivacyFilter, BoundsSkellamNoiseAtTheNextWholeOrder) {
  const PrivacyFilter filter(2, 1e-6);
  ASSERT_NE(filter.order(), std::floor(filter.order()));
  const PrivacyEvent skellam{SkellamNoise{1e6, 100, 100}, Adjacency::replace_one, Unit::user};
  EXPECT_LT(filter.spent(std::vector{skellam}).epsilon, 2);
}

TEST(PrivacyFilter, ChargesDeltaAndSamplersOutOfATenthOfDelta) {
  const PrivacyFilter filter(1, 1e-6);
  PrivacyEvent event{ApproximateDp{0.01, 4e-8}, Adjacency::replace_one, Unit::user};
  event.count = 2;
  EXPECT_LT(filter.spent(std::vector{event}).epsilon, 1);
  event.count = 3;
  EXPECT_EQ(filter.spent(std::vector{event}).epsilon, INFINITY);
  PrivacyEvent sampled = pure(0.01);
  sampled.total_variation = 1e-8;
  EXPECT_LT(filter.spent(std::vector{sampled}).epsilon, 1);
  sampled.total_variation = 1e-7;
  EXPECT_EQ(filter.spent(std::vector{sampled}).epsilon, INFINITY);
}

PrivacyEvent with_sampler(PrivacyEvent event, double total_variation) {
  event.total_variation = total_variation;
  return event;
}

TEST(PrivacyFilter, ChargesASamplerWithTheEpsilonOfItsOwnRelease) {
  for (const double budget : {1.0, 50.0, 1000.0}) {
    const PrivacyFilter filter(budget, 1e-6);
    // (1 + e^0.5)·t per use, and a tenth of δ for all.
    const double t = 1e-10;
    const auto uses = static_cast<std::uint64_t>(1e-7 / ((1 + std::exp(0.5)) * t));
    EXPECT_LT(filter.spent(std::vector{with_sampler(pure(0.5, uses - 1), t)}).epsilon, INFINITY) << budget;
    EXPECT_EQ(filter.spent(std::vector{with_sampler(pure(0.5, uses + 1), t)}).epsilon, INFINITY) << budget;
  }
  EXPECT_EQ(PrivacyFilter(100, 1e-6).spent(std::vector{with_sampler(pure(60), 0x1p-80)}).epsilon, INFINITY);
}

TEST(PrivacyFilter, ChargesASamplersFactorByBothRules) {
  const PrivacyFilter filter(2, 1e-6);
  PrivacyEvent answers = pure(0.1, 4);
  answers.log_ratio = 0.05;
  const Spent sum = filter.spent(std::vector{answers});
  EXPECT_EQ(sum.method, "sum");
  EXPECT_DOUBLE_EQ(sum.epsilon, 4 * 0.2);
  PrivacyEvent noisy = gaussian(20, 4);
  const Spent exact = filter.spent(std::vector{noisy});
  noisy.log_ratio = 1e-3;
  const Spent charged = filter.spent(std::vector{noisy});
  ASSERT_EQ(charged.method, "rdp-filter");
  const double order = filter.order();
  EXPECT_NEAR(charged.epsilon - exact.epsilon, 4e-3 * (2 * order - 1) / (order - 1), 1e-12);
}

TEST(PrivacyFilter, PromisesNoMoreThanTwentyWhereATranscriptIsComparedAsAWhole) {
  const PrivacyFilter large(50, 1e-6), small(20, 1e-6);
  const auto spent = [](const PrivacyFilter& filter, std::uint64_t uses, double t) {
    return filter.spent(std::vector{with_sampler(gaussian(1, uses), t)}).epsilon;
  };
  EXPECT_LT(spent(large, 4, 0x1p-80), 20);
  EXPECT_DOUBLE_EQ(spent(large, 4, 0x1p-80), spent(large, 4, 0));
  EXPECT_GT(spent(large, 20, 0), 20);
  EXPECT_LT(spent(large, 20, 0), 50) << "an exact sampler may go on";
  EXPECT_EQ(spent(large, 20, 0x1p-80), INFINITY);
  // (1 + e^20)·t, whatever is promised beyond.
  const double most = 1e-7 / (1 + std::exp(20.0));
  for (const PrivacyFilter* filter : {&large, &small}) {
    EXPECT_LT(spent(*filter, 1, 0.99 * most), 20);
    EXPECT_EQ(spent(*filter, 1, 1.01 * most), INFINITY);
  }
}

TEST(PrivacyFilter, APlanAddsUpLargeEpsilonsDespiteTheirSamplers) {
  const std::vector events = {with_sampler(pure(5, 30), 0x1p-78)};
  EXPECT_EQ(spent_as_planned(events, 1e-6, 0).epsilon, 150);
  EXPECT_EQ(spent_as_planned(std::vector{with_sampler(pure(5, 30), 1e-9)}, 1e-6, 0).epsilon, INFINITY);
}

TEST(PrivacyFilter, HugeAndTinyBudgetsStaySane) {
  EXPECT_NEAR(PrivacyFilter(1000, 1e-6).spent(std::vector{pure(1, 10)}).epsilon, 10, 10);
  EXPECT_DOUBLE_EQ(PrivacyFilter(1e-9, 1e-9).spent(std::vector{pure(1e-10, 10)}).epsilon, 1e-9);
  EXPECT_EQ(PrivacyFilter(1, 1e-6).spent({}).epsilon, 0);
}

}  // namespace
}  // namespace sotto::privacy
