// A device that is killed at any moment has every charge that it was given a receipt for.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>

#include "ledger_fixture.h"
#include "privacy/ledger/answer_cache.h"

namespace sotto::privacy {
namespace {

using namespace ledger_test;

class LedgerCrash : public LedgerTest {
 protected:
  // Runs `device` in a child that reports numbers through a pipe, lets it report `reports` of them and run
  // for a little longer, kills it, and returns the last number it reported.
  static std::uint64_t run_and_kill(const std::function<void(int pipe)>& device, int reports,
                                    std::chrono::microseconds longer) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      device(ends[1]);
      _exit(1);  // only a failed charge ends the loop
    }
    close(ends[1]);
    std::uint64_t last = 0, number = 0;
    for (int i = 0; i < reports && read(ends[0], &number, sizeof number) == sizeof number; ++i) last = number;
    const auto until = std::chrono::steady_clock::now() + longer;
    while (std::chrono::steady_clock::now() < until) {
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the device ended by itself";
    while (read(ends[0], &number, sizeof number) == sizeof number) last = number;
    close(ends[0]);
    return last;
  }
  static void report(int pipe, std::uint64_t number) {
    if (write(pipe, &number, sizeof number) != sizeof number) _exit(2);
  }
};

TEST_F(LedgerCrash, EveryReceiptSurvivesKill) {
  const LedgerOptions options{anchor_file(folder_ / "anchor"), true};
  {
    const auto created = create(settings({lifetime(1e6)}), options);
    ASSERT_TRUE(created) << created.error().message;
  }
  std::mt19937_64 random(20260314);
  std::uint64_t before = 1;
  for (int round = 0; round < 30; ++round) {
    const bool anchored = round % 2 == 0;
    const std::uint64_t reported = run_and_kill(
        [&](int pipe) {
          auto ledger = anchored ? Ledger::open(file(), noon, options) : Ledger::open(file(), noon);
          while (ledger) {
            auto receipt = ledger->charge(serving(pure(0.01)), noon);
            if (!receipt) return;
            report(pipe, receipt->record());
          }
        },
        static_cast<int>(random() % 5), std::chrono::microseconds(random() % 2000));
    auto ledger = Ledger::open(file(), noon, options);
    ASSERT_TRUE(ledger) << ledger.error().message;
    EXPECT_GE(ledger->records(), std::max(reported, before));
    EXPECT_LE(ledger->records(), std::max(reported, before) + 1) << "at most one was not receipted yet";
    before = ledger->records();
  }
  EXPECT_GT(before, 30U) << "the devices got nothing done";
}

TEST_F(LedgerCrash, NoAnswerIsEverDrawnWithoutACharge) {
  { ASSERT_TRUE(create(settings({lifetime(1e6)}))); }
  const RefreshClock hourly{std::chrono::hours{1}};
  std::mt19937_64 random(42);
  for (int round = 0; round < 30; ++round) {
    // Reports before each draw how many records there are; one draw per hour.
    const std::uint64_t drawn = run_and_kill(
        [&](int pipe) {
          auto ledger = Ledger::open(file(), noon);
          if (!ledger) return;
          auto cache = AnswerCache::open(folder_ / "answers", *ledger, hourly);
          for (int hour = 0; cache; ++hour) {
            const auto answer = cache->get("front page", serving(pure(0.01)), noon + std::chrono::hours{hour},
                                           [&](const Receipt& receipt) -> Result<std::string> {
                                             report(pipe, receipt.record());
                                             return std::to_string(receipt.record());
                                           });
            if (!answer) return;
          }
        },
        static_cast<int>(random() % 4), std::chrono::microseconds(random() % 2000));
    auto ledger = Ledger::open(file(), noon);
    ASSERT_TRUE(ledger) << ledger.error().message;
    EXPECT_GE(ledger->records(), drawn);
    auto cache = AnswerCache::open(folder_ / "answers", *ledger, hourly);
    ASSERT_TRUE(cache) << cache.error().message;
    // Whatever is stored was paid for by the record it names.
    const auto stored = cache->get(
        "front page", serving(pure(0.01)), noon,
        [](const Receipt& receipt) -> Result<std::string> { return std::to_string(receipt.record()); });
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_LE(std::stoull(stored->bytes), ledger->records());
  }
}

}  // namespace
}  // namespace sotto::privacy
