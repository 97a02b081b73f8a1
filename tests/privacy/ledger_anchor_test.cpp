// A ledger that cannot show its whole past begins with its windows spent.

#include "privacy/ledger/ledger_anchor.h"

#include <gtest/gtest.h>

#include "ledger_fixture.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::privacy {
namespace {

using namespace ledger_test;

// A host that keeps the anchor in its memory, and may refuse to.
class HostMemory final : public AnchorStore {
 public:
  Result<std::optional<std::string>> load() override { return kept; }
  Status store(std::string_view anchor) override {
    if (refuses) return failed("the key store is locked");
    kept = anchor;
    return {};
  }
  std::optional<std::string> kept;
  bool refuses = false;
};

class LedgerAnchors : public LedgerTest {
 protected:
  // Day 1, month 2, lifetime 10.
  static LedgerSettings three_windows() {
    return settings({{BudgetWindow::day, std::nullopt, 1, 1e-9},
                     {BudgetWindow::month, std::nullopt, 2, 1e-9},
                     lifetime(10, 1e-9)});
  }
  static bool is_spent(const Result<Ledger>& ledger) {
    if (!ledger) ADD_FAILURE() << ledger.error().message;
    return ledger->statement(noon)->budgets.back().closed.has_value();
  }
  std::shared_ptr<HostMemory> host_ = std::make_shared<HostMemory>();
  const Release release_ = serving(pure(0.5));
};

TEST_F(LedgerAnchors, ADeletedLedgerDoesNotComeBackWithAFullBudget) {
  {
    auto ledger = create(three_windows(), {host_, true});
    ASSERT_TRUE(ledger->charge(release_, noon));
  }
  std::filesystem::remove(file());
  // The host states first use whenever it starts; its anchor knows better.
  auto again = create(three_windows(), {host_, true});
  ASSERT_TRUE(again) << again.error().message;
  const auto no = again->charge(release_, noon);
  EXPECT_TRUE(refused(no, "(day) of ε 1 counts as spent because nothing tells what was charged before"));
  EXPECT_TRUE(refused(no, "more frees up at 2026-03-16 00:00:00 UTC"));
  EXPECT_TRUE(refused(no, "(lifetime) of ε 10 counts as spent"));
  const auto statement = again->statement(noon);
  for (const BudgetState& state : statement->budgets) {
    EXPECT_EQ(state.left(), 0);
    EXPECT_TRUE(state.closed);
  }
  EXPECT_EQ(statement->budgets[1].window.end, at(2026, 5, 1, 0));
}

TEST_F(LedgerAnchors, WithoutAStatementOfFirstUseAndWithoutAnAnchorNothingMayBeTold) {
  EXPECT_TRUE(is_spent(create(three_windows(), {})));
  std::filesystem::remove(file());
  EXPECT_TRUE(is_spent(create(three_windows(), {host_, false})));
  std::filesystem::remove(file());
  EXPECT_FALSE(is_spent(create(three_windows(), first_use)));
}

TEST_F(LedgerAnchors, ClosedWindowsOpenAgainAfterTheNextOneAndFreeReleasesPassMeanwhile) {
  LedgerSettings daily = settings({{BudgetWindow::day, std::nullopt, 1, 1e-9}});
  auto ledger = create(daily, {});
  Release sports = serving(pure(1));
  sports.reads = {"sports"};
  EXPECT_TRUE(ledger->charge(sports, noon)) << "not sensitive, so it costs nothing";
  EXPECT_FALSE(ledger->charge(release_, at(2026, 3, 15, 23, 59)));
  EXPECT_TRUE(ledger->charge(release_, at(2026, 3, 16, 0)));
}

TEST_F(LedgerAnchors, TellARollbackFromACrash) {
  const auto anchor = anchor_file(folder_ / "anchor");
  std::vector<std::string> ledgers, anchors;
  {
    auto ledger = create(settings({lifetime(10)}), {anchor, true});
    ASSERT_TRUE(ledger) << ledger.error().message;
    for (int i = 0; i < 4; ++i) {
      ledgers.push_back(bytes_of(file()));
      anchors.push_back(bytes_of(folder_ / "anchor"));
      ASSERT_TRUE(ledger->charge(serving(pure(0.1), std::to_string(i)), noon));
    }
  }
  for (std::size_t log = 0; log < ledgers.size(); ++log) {
    for (std::size_t note = 0; note < anchors.size(); ++note) {
      put_bytes(file(), ledgers[log]);
      put_bytes(folder_ / "anchor", anchors[note]);
      const auto statement = read_statement(file(), noon, anchor.get());
      EXPECT_EQ(statement.has_value(), note <= log);
      if (note > log) {
        EXPECT_TRUE(refused(statement, "rolled back"));
      }
      EXPECT_EQ(is_spent(Ledger::open(file(), noon, {anchor, true})), note > log)
          << "ledger " << log << ", anchor " << note;
      EXPECT_EQ(is_spent(Ledger::open(file(), noon, {anchor})), note > log) << "and it stays so";
    }
  }
  // Rolled back and used again: as long as before, but not the same.
  put_bytes(file(), ledgers[1]);
  ASSERT_TRUE(Ledger::open(file(), noon)->charge(serving(pure(0.2)), noon)) << "without it nobody knows";
  put_bytes(folder_ / "anchor", anchors[2]);
  EXPECT_TRUE(refused(read_statement(file(), noon, anchor.get()), "rolled back and continued"));
  EXPECT_TRUE(is_spent(Ledger::open(file(), noon, {anchor})));
}

TEST_F(LedgerAnchors, MissingForeignAndDamagedOnesAreNotTakenForGranted) {
  {
    auto ledger = create(settings({lifetime(10)}), {host_, true});
    ASSERT_TRUE(ledger->charge(serving(pure(0.1)), noon));
  }
  const std::string ledger = bytes_of(file());
  const std::string good = *host_->kept;
  host_->kept.reset();
  EXPECT_FALSE(is_spent(Ledger::open(file(), noon, {host_, true}))) << "the host states that all is there";
  host_->kept.reset();
  EXPECT_TRUE(is_spent(Ledger::open(file(), noon, {host_})));
  for (std::size_t i = 0; i < good.size(); ++i) {
    put_bytes(file(), ledger);
    host_->kept = good;
    (*host_->kept)[i] = static_cast<char>(good[i] ^ 1);
    ASSERT_FALSE(read_statement(file(), noon, host_.get())) << i;
    ASSERT_TRUE(is_spent(Ledger::open(file(), noon, {host_, true}))) << i;
  }
}

TEST_F(LedgerAnchors, ANewLedgerDoesNotBeginBeforeWhatTheAnchorSaw) {
  {
    auto ledger = create(settings({{BudgetWindow::day, std::nullopt, 1, 1e-9}}), {host_, true});
    ASSERT_TRUE(ledger->charge(serving(pure(1)), noon + std::chrono::days{5}));
  }
  std::filesystem::remove(file());
  // With the clock set back five days, the day on which it was spent would still be ahead.
  auto again = create(settings({{BudgetWindow::day, std::nullopt, 1, 1e-9}}), {host_, true});
  EXPECT_FALSE(again->charge(serving(pure(1)), noon + std::chrono::days{5}));
  EXPECT_FALSE(again->charge(serving(pure(1)), noon + std::chrono::days{6}));
  EXPECT_TRUE(again->charge(serving(pure(1)), noon + std::chrono::days{7}));
}

TEST_F(LedgerAnchors, AHostThatCannotStoreDoesNotCostTheReceiptButHoldsUpTheNext) {
  auto ledger = create(settings({lifetime(10)}), {host_, true});
  host_->refuses = true;
  EXPECT_TRUE(ledger->charge(release_, noon)) << "it is on the disk, so it may be used";
  EXPECT_TRUE(refused(ledger->charge(release_, noon), "key store is locked"));
  EXPECT_EQ(ledger->records(), 2U) << "and nothing more was charged";
  host_->refuses = false;
  EXPECT_TRUE(ledger->charge(release_, noon));
  EXPECT_EQ(decode_anchor(*host_->kept)->records, 3U);
}

}  // namespace
}  // namespace sotto::privacy
