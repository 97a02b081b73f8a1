// A disk that is full at any point: what was charged is answered, and what is not answered is not charged.

#include <gtest/gtest.h>

#include "disk_faults.h"
#include "ledger_fixture.h"
#include "privacy/ledger/answer_cache.h"

namespace sotto::privacy {
namespace {

using namespace ledger_test;

class LedgerDisk : public LedgerTest {};

TEST_F(LedgerDisk, FullAtAnyPointEveryChargeHasItsAnswer) {
  bool reached = true;
  int points = 0;
  for (; reached; ++points) {
    SCOPED_TRACE(points);
    const std::filesystem::path here = folder_ / std::to_string(points);
    std::filesystem::create_directory(here);
    const LedgerOptions options{anchor_file(here / "anchor"), true};
    auto ledger = Ledger::create(here / "ledger", settings({lifetime(1000, 1e-9)}), noon, options);
    ASSERT_TRUE(ledger) << ledger.error().message;
    auto cache = AnswerCache::open(here / "answers", *ledger, {std::chrono::hours{1}, {}});
    std::uint64_t answered = 0;
    const auto ask = [&](int hour) {
      const auto answer = cache->get("front page", serving(pure(1)), noon + std::chrono::hours{hour},
                                     [](const Receipt&) -> Result<std::string> {
                                       return std::string(AnswerCache::max_answer_bytes, 'x');
                                     });
      if (answer && answer->is_new) ++answered;
    };
    {
      const auto full = DiskFaults::full_after(points);
      for (int hour = 0; hour < 2; ++hour) ask(hour);
      reached = full.happened();
      EXPECT_EQ(ledger->records(), 1 + answered);
    }
    ask(10);
    EXPECT_GE(answered, 1U) << "there is room again";
    EXPECT_EQ(ledger->records(), 1 + answered);
    EXPECT_EQ(decode_anchor(bytes_of(here / "anchor"))->records, ledger->records());
  }
  EXPECT_GT(points, 10);
}

}  // namespace
}  // namespace sotto::privacy
