// A ledger accepts what fits and refuses what does not, with the reason.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "ledger_fixture.h"
#include "privacy/accounting/account.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::privacy {
namespace {

using namespace ledger_test;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

class LedgerBudgets : public LedgerTest {};

std::uint64_t charges_until_refused(Ledger& ledger, const Release& release, UtcTime now) {
  std::uint64_t accepted = 0;
  while (ledger.charge(release, now)) ++accepted;
  return accepted;
}

TEST_F(LedgerBudgets, AcceptExactlyWhatFits) {
  auto ledger = create(settings({lifetime(1, 1e-300)}));  // no δ to speak of: plain sums
  ASSERT_TRUE(ledger) << ledger.error().message;
  EXPECT_EQ(charges_until_refused(*ledger, serving(pure(0.1)), noon), 10U);
  EXPECT_EQ(ledger->records(), 11U) << "a refusal is not recorded";
}

TEST_F(LedgerBudgets, RefusalSaysWhatIsLeftAndWhenMoreFreesUp) {
  auto ledger = create(settings({{BudgetWindow::day, std::nullopt, 1, 1e-9}, lifetime(2, 1e-9)}));
  ASSERT_TRUE(ledger->charge(serving(pure(0.75)), noon));
  const auto day = ledger->charge(serving(pure(0.5)), noon);
  EXPECT_TRUE(refused(day, "(day) of ε 1"));
  EXPECT_TRUE(refused(day, "0.75 is spent, 0.25 left"));
  EXPECT_TRUE(refused(day, "more frees up at 2026-03-15 00:00:00 UTC"));
  EXPECT_EQ(day.error().kind, ErrorKind::bad_input);
  const auto large = ledger->charge(serving(pure(1.5)), noon);
  EXPECT_TRUE(refused(large, "(day) of ε 1 at δ 1e-09 would be exceeded"));
  EXPECT_TRUE(refused(large, "this release alone is more than the whole budget"));
  EXPECT_TRUE(refused(large, "(lifetime) of ε 2"));
  EXPECT_TRUE(refused(large, "nothing frees up"));
}

TEST_F(LedgerBudgets, DaysAndMonthsBeginAtMidnightUtc) {
  auto ledger = create(
      settings({{BudgetWindow::day, std::nullopt, 1, 1e-9}, {BudgetWindow::month, std::nullopt, 2.5, 1e-9}}));
  const Release one = serving(pure(1));
  EXPECT_TRUE(ledger->charge(one, at(2026, 3, 14, 23, 59)));
  EXPECT_FALSE(ledger->charge(one, at(2026, 3, 14, 23, 59)));
  EXPECT_TRUE(ledger->charge(one, at(2026, 3, 15, 0, 0)));
  EXPECT_TRUE(refused(ledger->charge(one, at(2026, 3, 31, 23, 59)), "2026-04-01"));
  EXPECT_TRUE(ledger->charge(one, at(2026, 4, 1, 0, 0)));
}

TEST_F(LedgerBudgets, AClockThatGoesBackwardsFreesNothing) {
  auto ledger = create(settings({{BudgetWindow::day, std::nullopt, 1, 1e-9}}));
  const Release one = serving(pure(1));
  ASSERT_TRUE(ledger->charge(one, at(2026, 4, 2)));
  EXPECT_FALSE(ledger->charge(one, at(2026, 4, 1)));
  EXPECT_FALSE(ledger->charge(one, at(1980, 1, 1)));
  { const Ledger closed = std::move(*ledger); }
  auto again = Ledger::open(file(), noon);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->charge(one, at(2026, 4, 1)));
  const auto receipt = again->charge(one, at(2026, 4, 3));
  ASSERT_TRUE(receipt);
  EXPECT_EQ(receipt->time(), at(2026, 4, 3));
  EXPECT_FALSE(again->charge(one, at(2026, 4, 2)));
}

TEST_F(LedgerBudgets, CategoryBudgetsCountWhatMayTellAboutThem) {
  auto ledger = create(settings({lifetime(10, 1e-9), {BudgetWindow::lifetime, health_category, 1, 1e-9}}));
  Release release = serving(pure(1));
  release.reads = {"politics", "sports"};
  EXPECT_TRUE(ledger->charge(release, noon));
  EXPECT_TRUE(ledger->charge(release, noon)) << "politics has no budget of its own";
  release.reads = {"health"};
  EXPECT_TRUE(ledger->charge(release, noon));
  EXPECT_TRUE(refused(ledger->charge(release, noon), "(lifetime, health)"));
  release.reads.reset();
  EXPECT_TRUE(refused(ledger->charge(release, noon), "(lifetime, health)")) << "everything includes health";
  release.reads = {"politics"};
  EXPECT_TRUE(ledger->charge(release, noon));
}

TEST_F(LedgerBudgets, CompositionAllowsMoreThanTheSum) {
  auto ledger = create(settings({lifetime(2)}));
  // 200 by the sum
  Release many = serving(pure(0.01, 1000));
  EXPECT_TRUE(ledger->charge(many, noon));
  EXPECT_FALSE(ledger->charge(serving(pure(0.01, 2500)), noon));
}

TEST_F(LedgerBudgets, PlannedLedgersAgreeWithTheAccountants) {
  auto ledger = create(settings({lifetime(3)}, RequestOrder::planned));
  Release training{ReleasePurpose::training, gaussian(4), std::nullopt, "round"};
  ASSERT_TRUE(ledger->charge(serving(pure(0.5)), noon));
  const std::uint64_t accepted = charges_until_refused(*ledger, training, noon);
  const auto epsilon = [](std::uint64_t rounds) {
    return account_best(std::vector{pure(0.5), gaussian(4, rounds)}, 1e-6, Adversary::server)->epsilon;
  };
  // The ledger's loss distributions stop at the first lattice step, the accountant refines further.
  EXPECT_LE(epsilon(accepted), 3);
  EXPECT_GT(epsilon(accepted + 2), 3);
}

TEST_F(LedgerBudgets, RefusalSaysThatNoBudgetWouldDo) {
  auto ledger = create(settings({lifetime(50)}));
  Release noisy = serving(gaussian(1));
  noisy.event.total_variation = 0x1p-78;
  EXPECT_GT(charges_until_refused(*ledger, noisy, noon), 5U);
  EXPECT_LT(ledger->statement(noon)->budgets[0].spent.epsilon, 20);
  EXPECT_TRUE(refused(ledger->charge(noisy, noon), "no bound holds at this δ for all releases together"));
}

// The ledger counts equal releases; the readable way is to compose them one by one.
TEST_F(LedgerBudgets, CountingKindsEqualsComposingOneByOne) {
  std::mt19937_64 random(11);
  auto ledger = create(settings({lifetime(30), {BudgetWindow::lifetime, health_category, 30, 1e-6}}));
  std::vector<PrivacyEvent> all, health;
  for (int i = 0; i < 60; ++i) {
    Release release = serving(random() % 2 == 0 ? pure(0.1 * static_cast<double>(1 + random() % 3))
                                                : gaussian(4 + static_cast<double>(random() % 3)));
    if (random() % 3 == 0) release.reads = {"politics"};
    ASSERT_TRUE(ledger->charge(release, noon));
    all.push_back(release.event);
    if (!release.reads) health.push_back(release.event);
  }
  const PrivacyFilter filter(30, 1e-6);
  const auto statement = ledger->statement(noon);
  EXPECT_NEAR(statement->budgets[0].spent.epsilon, filter.spent(all).epsilon, 1e-9);
  EXPECT_NEAR(statement->budgets[1].spent.epsilon, filter.spent(health).epsilon, 1e-9);
  const auto rdp = account(all, 1e-6, Method::rdp, Adversary::server);
  EXPECT_LE(statement->total.spent.epsilon, rdp->epsilon * (1 + 1e-9));
  EXPECT_EQ(statement->budgets[1].charges, health.size());
}

TEST_F(LedgerBudgets, FilteredLedgersNeverAllowMoreThanPlannedOnes) {
  const Release release = serving(gaussian(3));
  auto adaptive = create(settings({lifetime(4)}));
  const auto filtered = charges_until_refused(*adaptive, release, noon);
  auto planned =
      Ledger::create(folder_ / "planned", settings({lifetime(4)}, RequestOrder::planned), noon, first_use);
  const auto most = charges_until_refused(*planned, release, noon);
  EXPECT_LE(filtered, most);
  EXPECT_GT(3 * filtered, 2 * most);
}

TEST_F(LedgerBudgets, RestatesReleasesForTheLedgersUnitOrRefuses) {
  LedgerSettings wanted = settings({lifetime(1, 1e-9)});
  auto ledger = create(wanted);
  PrivacyEvent event{PureDp{0.25}, Adjacency::add_remove, Unit::user};
  ASSERT_TRUE(ledger->charge(serving(event), noon));
  EXPECT_DOUBLE_EQ(ledger->statement(noon)->budgets[0].spent.epsilon, 0.5) << "replacing is two changes";
  event = pure(0.1);
  event.unit = Unit::click;
  EXPECT_TRUE(refused(ledger->charge(serving(event), noon), "says nothing about a whole user"));

  wanted.unit = Unit::click;
  auto clicks = Ledger::create(folder_ / "clicks", wanted, noon, first_use);
  EXPECT_TRUE(clicks->charge(serving(event), noon));
  EXPECT_TRUE(clicks->charge(serving(pure(0.1)), noon));

  wanted.unit = Unit::user;
  wanted.adjacency = Adjacency::add_remove;
  auto removal = Ledger::create(folder_ / "removal", wanted, noon, first_use);
  EXPECT_TRUE(refused(removal->charge(serving(pure(0.1)), noon), "adjacency replace-one"));
}

TEST_F(LedgerBudgets, RefusesReleasesWithoutATheorem) {
  auto ledger = create(settings({lifetime(1)}));
  PrivacyEvent sampled{GaussianNoise{1}, Adjacency::add_remove, Unit::user, PoissonSampling{0.01}};
  EXPECT_TRUE(refused(ledger->charge(serving(sampled), noon), "without sampling"));
  for (const double bad : {0.0, -1.0, not_a_number, double{INFINITY}}) {
    EXPECT_TRUE(refused(ledger->charge(serving(pure(bad)), noon), "epsilon"));
  }
  EXPECT_TRUE(refused(ledger->charge(serving(pure(0.1, 2'000'000'000)), noon), "too many"));
  EXPECT_TRUE(refused(ledger->charge(serving(pure(0.1), "a\x1b[2Jb"), noon), "\\x1b"));
  Release release = serving(pure(0.1));
  release.reads = {"helth"};
  EXPECT_TRUE(refused(ledger->charge(release, noon), "did you mean \"health\"?"));
  release.reads = std::vector<std::string>{};
  EXPECT_TRUE(refused(ledger->charge(release, noon), "names no category"));
  EXPECT_TRUE(refused(ledger->charge(serving(pure(0.1)), UtcTime{std::chrono::seconds{-1}}), "clock"));
  EXPECT_EQ(ledger->records(), 1U);
}

TEST_F(LedgerBudgets, RefusesBudgetsThatPromiseNothing) {
  for (const double bad : {0.0, -1.0, not_a_number, double{INFINITY}}) {
    EXPECT_TRUE(refused(create(settings({lifetime(bad)})), "epsilon above 0"));
  }
  for (const double bad : {0.0, 1.0, -1e-6, not_a_number}) {
    EXPECT_TRUE(refused(create(settings({lifetime(1, bad)})), "delta"));
  }
  EXPECT_TRUE(refused(create(settings({})), "no budget covers everything"));
  EXPECT_TRUE(refused(create(settings({{BudgetWindow::day, health_category, 1, 1e-6}})), "no budget covers"));
  EXPECT_TRUE(refused(create(settings({lifetime(1), lifetime(2)})), "two budgets"));
  EXPECT_TRUE(
      refused(create(settings({lifetime(1), {BudgetWindow::day, CategoryId{3}, 1, 1e-6}})), "category"));
  LedgerSettings wrong = settings({lifetime(1)});
  wrong.unit = Unit::click;
  wrong.adjacency = Adjacency::add_remove;
  EXPECT_TRUE(refused(create(wrong), "replace-one"));
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(LedgerBudgets, NewSettingsCountFromNowOnAndKeepWhatWasSpent) {
  auto ledger = create(settings({lifetime(1, 1e-9)}));
  ASSERT_TRUE(ledger->charge(serving(pure(1)), noon));
  ASSERT_FALSE(ledger->charge(serving(pure(1)), noon));
  LedgerSettings wanted = settings({lifetime(2.5, 1e-9), {BudgetWindow::day, std::nullopt, 1.5, 1e-9}});
  wanted.sensitivity = *SensitivitySettings::create({"health", "politics", "sports", "crime"});
  ASSERT_TRUE(ledger->change_settings(wanted, noon));
  EXPECT_TRUE(refused(ledger->charge(serving(pure(1)), noon), "(day)")) << "the day began before the change";
  EXPECT_TRUE(ledger->charge(serving(pure(1)), noon + std::chrono::days{1}));
  { const Ledger closed = std::move(*ledger); }
  auto again = Ledger::open(file(), noon);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->settings().sensitivity.categories().back(), "crime");
  EXPECT_TRUE(refused(again->charge(serving(pure(1)), noon + std::chrono::days{2}), "(lifetime)"));

  wanted.unit = Unit::click;
  EXPECT_TRUE(refused(again->change_settings(wanted, noon), "keeps its unit"));
  wanted = settings({lifetime(3)});
  EXPECT_TRUE(refused(again->change_settings(wanted, noon), "never removed"));
}

TEST_F(LedgerBudgets, ReceiptsCoverWhatWasPaidForOnce) {
  auto ledger = create(settings({lifetime(5)}));
  auto receipt = ledger->charge(serving(pure(0.5)), noon);
  ASSERT_TRUE(receipt);
  EXPECT_TRUE(receipt->covers(ReleasePurpose::serving, pure(0.5)));
  EXPECT_TRUE(refused(receipt->covers(ReleasePurpose::labels, pure(0.5)), "for serving"));
  EXPECT_TRUE(refused(receipt->covers(ReleasePurpose::serving, pure(0.6)), "0.5-DP"));
  EXPECT_TRUE(refused(receipt->covers(ReleasePurpose::serving, pure(0.5, 2)), "1 use"));
  const Receipt sent = std::move(*receipt);
  EXPECT_TRUE(sent.covers(ReleasePurpose::serving, pure(0.5)));
  EXPECT_TRUE(refused(receipt->covers(ReleasePurpose::serving, pure(0.5)), "used already"));
  static_assert(!std::is_copy_constructible_v<Receipt> && !std::is_default_constructible_v<Receipt>);
}

}  // namespace
}  // namespace sotto::privacy
