// Memoised answers: one draw and one charge per period of the clock, whatever happens meanwhile.

#include <gtest/gtest.h>

#include "ledger_fixture.h"
#include "privacy/ledger/answer_cache.h"

namespace sotto::privacy {
namespace {

using namespace ledger_test;
using std::chrono::hours;
using std::chrono::minutes;

class LedgerAnswers : public LedgerTest {
 protected:
  void SetUp() override {
    LedgerTest::SetUp();
    if (IsSkipped()) return;
    ledger_.emplace(*create(settings({lifetime(1, 1e-9)})));
    reopen();
  }
  void reopen() {
    cache_.reset();
    auto cache = AnswerCache::open(answers_file(), *ledger_, clock_);
    ASSERT_TRUE(cache) << cache.error().message;
    cache_.emplace(std::move(*cache));
  }
  std::filesystem::path answers_file() const { return folder_ / "answers"; }
  Result<CachedAnswer> ask(UtcTime now, std::string_view kind = "front page") {
    return cache_->get(kind, serving(pure(0.25)), now, [&](const Receipt&) -> Result<std::string> {
      ++draws_;
      return history_;
    });
  }

  RefreshClock clock_{hours{6}, hours{1}};
  std::optional<Ledger> ledger_;
  std::optional<AnswerCache> cache_;
  std::string history_ = "history";
  int draws_ = 0;
};

TEST_F(LedgerAnswers, AreFreeWithinAPeriodEvenIfTheHistoryChanges) {
  const auto first = ask(at(2026, 3, 14, 13));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->is_new);
  EXPECT_EQ(first->valid_until, at(2026, 3, 14, 19));
  history_ = "another history";
  const auto again = ask(at(2026, 3, 14, 18, 59));
  EXPECT_FALSE(again->is_new);
  EXPECT_EQ(again->bytes, "history");
  EXPECT_EQ(draws_, 1);
  EXPECT_EQ(ledger_->records(), 2U);
  EXPECT_EQ(ask(at(2026, 3, 14, 19))->bytes, "another history");
  EXPECT_EQ(ledger_->records(), 3U);
}

TEST_F(LedgerAnswers, SurviveClosing) {
  ASSERT_TRUE(ask(at(2026, 3, 14, 13)));
  reopen();
  EXPECT_FALSE(ask(at(2026, 3, 14, 14))->is_new);
  EXPECT_EQ(draws_, 1);
}

TEST_F(LedgerAnswers, AClockThatGoesBackwardsDrawsNothing) {
  ASSERT_TRUE(ask(at(2026, 3, 14, 20)));
  for (const UtcTime earlier : {at(2026, 3, 14, 13), at(2026, 3, 1), at(2026, 3, 14, 20)}) {
    EXPECT_FALSE(ask(earlier)->is_new);
  }
  EXPECT_EQ(draws_, 1);
}

TEST_F(LedgerAnswers, EveryKindHasItsOwn) {
  ASSERT_TRUE(ask(at(2026, 3, 14, 13)));
  EXPECT_TRUE(ask(at(2026, 3, 14, 13), "sports page")->is_new);
  EXPECT_FALSE(ask(at(2026, 3, 14, 13))->is_new);
  EXPECT_TRUE(refused(ask(at(2026, 3, 14, 13), ""), "kind of answer"));
}

TEST_F(LedgerAnswers, ARefusedRefreshSendsTheOldAnswer) {
  for (int day = 1; day <= 4; ++day) ASSERT_TRUE(ask(at(2026, 4, static_cast<unsigned>(day)))->is_new);
  history_ = "another history";
  const auto answer = ask(at(2026, 4, 5));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->expired);
  EXPECT_FALSE(answer->is_new);
  EXPECT_EQ(answer->bytes, "history");
  EXPECT_EQ(draws_, 4);
  EXPECT_TRUE(refused(ask(at(2026, 4, 5), "sports page"), "would be exceeded"))
      << "no answer to fall back to";
}

TEST_F(LedgerAnswers, AFailedDrawCostsItsChargeAndTheNextPaysAgain) {
  const auto failing = [](const Receipt&) -> Result<std::string> { return failed("no model yet"); };
  EXPECT_TRUE(refused(cache_->get("front page", serving(pure(0.25)), noon, failing), "no model yet"));
  EXPECT_EQ(ledger_->records(), 2U);
  EXPECT_TRUE(ask(noon)->is_new);
  EXPECT_EQ(ledger_->records(), 3U);
}

TEST_F(LedgerAnswers, AnAnswerThatCouldNotBeStoredIsNeitherChargedNorDrawn) {
  std::filesystem::create_directory(answers_file());
  EXPECT_TRUE(refused(ask(noon), "nothing was charged"));
  EXPECT_EQ(draws_, 0);
  EXPECT_EQ(ledger_->records(), 1U);
}

// Files of this process cannot grow beyond a limit: the ledger's can, the answers' cannot.
TEST_F(LedgerAnswers, AsksOnAFullDiskCostNothing) {
  {
    const FullDisk disk(AnswerCache::max_answer_bytes);
    for (int day = 1; day <= 28; ++day) {
      EXPECT_TRUE(refused(ask(at(2026, 4, static_cast<unsigned>(day))), "nothing was charged"));
    }
  }
  EXPECT_EQ(draws_, 0);
  EXPECT_EQ(ledger_->records(), 1U);
  EXPECT_TRUE(ask(at(2026, 4, 29))->is_new) << "there is room again";
}

TEST_F(LedgerAnswers, AreDroppedWithoutTheLedgerThatPaidForThem) {
  const std::string before = bytes_of(file());
  ASSERT_TRUE(ask(noon));
  cache_.reset();
  ledger_.reset();
  put_bytes(file(), before);
  ledger_.emplace(*Ledger::open(file(), noon));
  reopen();
  EXPECT_TRUE(ask(noon)->is_new) << "drawn and paid again";
  EXPECT_EQ(ledger_->records(), 2U);
}

TEST_F(LedgerAnswers, AreReadableByTheirOwnerOnlyAndLeaveNoLeftovers) {
  put_bytes(folder_ / ".answers.sotto-1-1", "of a device that was killed");
  reopen();
  ASSERT_TRUE(ask(noon));
  const auto mode = std::filesystem::status(answers_file()).permissions();
  EXPECT_EQ(mode & std::filesystem::perms::all,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_FALSE(std::filesystem::exists(folder_ / ".answers.sotto-1-1"));
}

TEST_F(LedgerAnswers, DamagedFilesAreRefused) {
  ASSERT_TRUE(ask(noon));
  const std::string whole = bytes_of(answers_file());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    EXPECT_FALSE(decode_answers(changed)) << i;
    EXPECT_FALSE(decode_answers(whole.substr(0, i))) << i;
  }
  const auto decoded = decode_answers(whole);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(encode(*decoded), whole);
}

TEST(RefreshClock, PeriodsBeginAtFixedInstants) {
  const RefreshClock clock{hours{6}, hours{1}};
  EXPECT_EQ(end_of_period(clock, at(2026, 3, 14, 0, 59)), at(2026, 3, 14, 1));
  EXPECT_EQ(end_of_period(clock, at(2026, 3, 14, 1)), at(2026, 3, 14, 7));
  EXPECT_EQ(end_of_period(clock, at(1970, 1, 1, 0)), at(1970, 1, 1, 1));
  EXPECT_FALSE(validate(RefreshClock{}));
  EXPECT_FALSE(validate(RefreshClock{std::chrono::seconds{59}}));
  EXPECT_FALSE(validate(RefreshClock{hours{24 * 367}}));
  EXPECT_FALSE(validate(RefreshClock{hours{1}, hours{1}}));
  EXPECT_FALSE(validate(RefreshClock{hours{1}, minutes{-1}}));
}

}  // namespace
}  // namespace sotto::privacy
