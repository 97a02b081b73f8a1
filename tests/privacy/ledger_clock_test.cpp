// Whatever the clocks say, no more is told than real time allows, and a wrong clock does not silence a
// device.

#include "privacy/ledger/ledger_clock.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "ledger_fixture.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::privacy {
namespace {

using namespace ledger_test;
using std::chrono::days;
using std::chrono::hours;
using std::chrono::seconds;

class LedgerClocks : public LedgerTest {
 protected:
  // One release a day.
  static LedgerSettings one_a_day() {
    return settings({{BudgetWindow::day, std::nullopt, 1, 1e-9}, lifetime(1e6, 1e-9)});
  }
  const Release release_ = serving(pure(1));
};

// A machine in real time, whose wall clock is off by whatever a test says.
struct Machine {
  UtcTime now = noon;  // the truth
  UtcTime started = noon - hours{5};
  std::uint64_t boot = 1;
  seconds wrong{0};
  bool vouched = false;

  ClockReading read() const { return {now + wrong, RunningTime{boot, now - started}, vouched}; }
  void restart(seconds off) {
    now += off;
    started = now;
    ++boot;
  }
};

// A ledger without its file, which would wait for the disk at every charge. Programs and machines may end
// between any two calls: all that counts is in the records.
class Books {
 public:
  Books(const LedgerSettings& wanted, const ClockReading& now)
      : books_(*LedgerBooks::begin(SettingsRecord{Moment(now.wall, now.running), wanted})) {}
  bool charge(const Release& release, const ClockReading& now) {
    const Moment when = books_.at(now);
    const Charge charge = *price(release, books_.settings());
    if (!books_.refusals(charge, when.time)->empty()) return false;
    EXPECT_TRUE(books_.apply(ChargeRecord{when, charge}));
    return true;
  }
  void mend(const ClockReading& now) {
    EXPECT_TRUE(books_.apply(ClosingRecord{Moment(now.wall, now.running), ClosingReason::clock_mended}));
  }

 private:
  LedgerBooks books_;
};

TEST_F(LedgerClocks, AGlitchIntoTheFutureDoesNotSilenceTheDevice) {
  Books books(one_a_day(), noon);
  ASSERT_TRUE(books.charge(release_, noon));
  EXPECT_FALSE(books.charge(release_, at(2036, 1, 1))) << "not believed: it opens no window";
  int accepted = 0;
  for (int day = 1; day <= 1095; ++day) {
    if (books.charge(release_, noon + days{day})) ++accepted;
  }
  EXPECT_EQ(accepted, 1095);
}

TEST_F(LedgerClocks, LookingMovesNothing) {
  auto ledger = create(one_a_day());
  for (const UtcTime glitch : {at(2026, 4, 10), at(2036, 1, 1)}) {
    ASSERT_TRUE(ledger->statement(glitch));
    ASSERT_TRUE(ledger->refusals(release_, glitch));
    ASSERT_TRUE(ledger->time_at(glitch));
  }
  ASSERT_TRUE(ledger->charge(release_, noon));
  EXPECT_TRUE(ledger->charge(release_, noon + days{1}));
  EXPECT_EQ(ledger->statement(noon + days{1})->latest, noon + days{1});
}

TEST_F(LedgerClocks, RunningTimeOutweighsTheWallClockWhateverItSays) {
  Machine machine;
  machine.vouched = true;
  auto ledger = Ledger::create(file(), one_a_day(), machine.read(), first_use);
  ASSERT_TRUE(ledger->charge(release_, machine.read()));
  for (const seconds wrong : {seconds{days{1}}, seconds{days{30}}, seconds{days{4000}}, -seconds{days{9}}}) {
    machine.wrong = wrong;
    EXPECT_FALSE(ledger->charge(release_, machine.read())) << wrong.count();
  }
  machine.now += days{1};
  EXPECT_TRUE(ledger->charge(release_, machine.read())) << "a day has passed, though the clock went back";
}

TEST_F(LedgerClocks, TimeThatAMachineWasOffCountsWhereTheHostVouchesAndIsBounded) {
  const Moment last(noon, RunningTime{1, hours{100}});
  const auto at_reading = [&](UtcTime wall, bool vouched) {
    return moment_after(last, {wall, RunningTime{2, hours{3}}, vouched}).time;
  };
  EXPECT_EQ(at_reading(noon + days{20}, true), noon + days{20});
  EXPECT_EQ(at_reading(noon + days{20}, false), noon + hours{3}) << "that much is proven";
  EXPECT_EQ(at_reading(noon + days{32}, true), noon + hours{3}) << "too far to be believed";
  EXPECT_EQ(at_reading(noon - days{2}, true), noon + hours{3});
  EXPECT_EQ(moment_after(last, noon + days{3}).time, noon + days{3}) << "a host without running time";
  EXPECT_EQ(moment_after(Moment(noon), {noon, RunningTime{2, hours{3}}, false}).time, noon)
      << "the machine may have been started before that moment";
  EXPECT_EQ(moment_after(last, {noon, RunningTime{1, hours{90}}, true}).time, noon) << "never backwards";
}

TEST_F(LedgerClocks, SurvivesClosingAndRestarts) {
  Machine machine;
  {
    auto ledger = Ledger::create(file(), one_a_day(), machine.read(), first_use);
    ASSERT_TRUE(ledger->charge(release_, machine.read()));
  }
  machine.wrong = days{3000};
  {
    machine.now += hours{1};
    auto ledger = Ledger::open(file(), machine.read());
    EXPECT_FALSE(ledger->charge(release_, machine.read()));
    machine.now += hours{12};
    EXPECT_TRUE(ledger->charge(release_, machine.read())) << "past midnight, proven across processes";
  }
  machine.restart(hours{10});
  auto ledger = Ledger::open(file(), machine.read());
  machine.now += hours{24};
  EXPECT_TRUE(ledger->charge(release_, machine.read())) << "running since the restart";
}

TEST_F(LedgerClocks, MendingSetsTheClockAndGainsNothing) {
  auto ledger = create(one_a_day());
  ASSERT_TRUE(ledger->charge(release_, noon));
  const UtcTime later = noon + days{60};  // switched off for two months
  EXPECT_FALSE(ledger->charge(release_, later));
  EXPECT_EQ(ledger->statement(later)->clock_ahead, -days{60});
  EXPECT_NE(to_text(*ledger->statement(later)).find("1440.0 hours behind the wall clock"), std::string::npos);
  ASSERT_TRUE(ledger->mend_clock(later));
  EXPECT_EQ(ledger->statement(later)->clock_ahead, seconds{0});
  EXPECT_TRUE(refused(ledger->charge(release_, later), "the ledger's clock was mended"));
  EXPECT_FALSE(ledger->charge(release_, later + days{1}));
  EXPECT_TRUE(ledger->charge(release_, later + days{2}));
  // Backwards too, after a jump that was believed.
  ASSERT_TRUE(ledger->charge(release_, later + days{30}));
  ASSERT_TRUE(ledger->mend_clock(later + days{3}));
  EXPECT_FALSE(ledger->charge(release_, later + days{4}));
  EXPECT_TRUE(ledger->charge(release_, later + days{5}));
  { const Ledger closed = std::move(*ledger); }
  EXPECT_TRUE(Ledger::open(file(), later + days{6})->charge(release_, later + days{6}));
}

// While the machine runs: exactly one budget in each day of real time, and every day's is there to be used.
TEST_F(LedgerClocks, ARunningMachineSpendsEachRealDayOnceForAnyWallClock) {
  std::mt19937_64 random(7);
  for (int walk = 0; walk < 50; ++walk) {
    Machine machine;
    Books books(one_a_day(), machine.read());
    std::map<std::int64_t, int> spent;
    for (int step = 0; step < 150; ++step) {
      machine.now += seconds{random() % seconds{hours{5}}.count()};
      machine.vouched = random() % 2 == 0;
      switch (random() % 4) {
        case 0:
          machine.wrong = seconds{0};
          break;
        case 1:
          machine.wrong += seconds{static_cast<std::int64_t>(random() % 400'000) - 200'000};
          break;
        case 2:
          machine.wrong = days{static_cast<int>(random() % 8000) - 4000};
          break;
        default:
          break;
      }
      const bool accepted = books.charge(release_, machine.read());
      const std::int64_t day = std::chrono::floor<days>(machine.now).time_since_epoch().count();
      EXPECT_EQ(accepted, spent[day] == 0) << "walk " << walk << ", step " << step;
      spent[day] += accepted ? 1 : 0;
    }
  }
}

// With restarts, mending at any moment and wall clocks for which nobody vouches: in no stretch of real time
// more windows open than a right clock opens in a stretch as long (at most one more than the days in it,
// rounded up). And where the host vouches for a right clock after a restart: never more, up to any moment,
// than days have begun.
TEST_F(LedgerClocks, NoWalkOfTheClocksEarnsMoreThanRealTimeAllows) {
  std::mt19937_64 random(11);
  for (int walk = 0; walk < 200; ++walk) {
    const bool host_vouches = walk % 2 == 1;
    Machine machine;
    Books books(one_a_day(), machine.read());
    std::vector<UtcTime> spent;
    for (int step = 0; step < 150; ++step) {
      machine.now += seconds{random() % seconds{hours{9}}.count()};
      machine.wrong = seconds{static_cast<std::int64_t>(random() % 20'000'000) - 10'000'000};
      machine.vouched = false;
      if (random() % 10 == 0) {
        machine.restart(seconds{random() % seconds{days{3}}.count()});
        if (host_vouches) {
          machine.vouched = true;
          machine.wrong = seconds{0};
        }
      }
      if (!host_vouches && random() % 25 == 0) books.mend(machine.read());
      if (books.charge(release_, machine.read())) spent.push_back(machine.now);
    }
    ASSERT_GT(spent.size(), 5U);
    for (std::size_t last = 0; last < spent.size(); ++last) {
      if (host_vouches) {
        const auto begun = std::chrono::floor<days>(spent[last]) - std::chrono::floor<days>(noon);
        ASSERT_LE(last, static_cast<std::size_t>(begun.count())) << "walk " << walk;
        continue;
      }
      for (std::size_t first = 0; first <= last; ++first) {
        const auto touched = std::chrono::ceil<days>(spent[last] - spent[first]).count() + 1;
        ASSERT_LE(last - first + 1, static_cast<std::size_t>(touched)) << "walk " << walk;
      }
    }
  }
}

TEST(SystemClocks, CanBeReadAndDoNotRunBackwards) {
  const ClockReading first = read_system_clocks(), second = read_system_clocks();
  EXPECT_TRUE(validate(first));
  if (first.running) {
    EXPECT_EQ(first.running->boot, second.running->boot);
    EXPECT_LE(first.running->since, second.running->since);
  }
}

}  // namespace
}  // namespace sotto::privacy
