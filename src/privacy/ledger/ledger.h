#pragma once
// A device's account of everything it told: durable, append-only, hash-chained.
//
// Nothing leaves a device without a Receipt, and only charge() makes one, after the charge is on the disk. A
// crash at any moment can therefore lose an answer that was paid for, never a payment for an answer that was
// sent. charge() refuses what would exceed a budget.
//
// A ledger that cannot show its whole past begins with its windows spent: one that is created without a
// statement of first use, that its anchor knows a later or another state of, or whose anchor is gone. So a
// ledger that is deleted or rolled back does not come back with a full budget.
//
// One Ledger owns its file (an advisory lock keeps a second one out). Movable. All functions are safe to call
// from several threads. Clocks are read by the caller; ledger_clock.h says what is believed of them. Only
// records move the ledger's clock: looking changes nothing.

#include <filesystem>
#include <memory>
#include <optional>

#include "base/chain_hash.h"
#include "privacy/ledger/charge.h"
#include "privacy/ledger/ledger_anchor.h"
#include "privacy/ledger/ledger_books.h"

namespace sotto::privacy {

struct LedgerStatement;

// What the file is called in a device's folder.
constexpr std::string_view ledger_file_name = "ledger.sotto";

// Proof that a release was charged. Senders take it by value: it cannot be copied, so one payment is one
// release. A moved-from receipt covers nothing.
class Receipt {
 public:
  Receipt(Receipt&& other) noexcept;
  Receipt& operator=(Receipt&& other) noexcept;
  Receipt(const Receipt&) = delete;
  Receipt& operator=(const Receipt&) = delete;
  ~Receipt() = default;

  std::uint64_t record() const { return record_; }  // its number in the ledger, from 1
  UtcTime time() const { return time_; }
  // Nothing was charged: what is sent may come from UnprotectedClicks only.
  bool is_free() const { return !charge_.event; }
  // For senders: is this what was paid for? A free receipt never covers a mechanism on protected clicks.
  Status covers(ReleasePurpose purpose, const PrivacyEvent& event) const;

 private:
  friend class Ledger;
  Receipt(std::uint64_t record, UtcTime time, Charge charge)
      : record_(record), time_(time), charge_(std::move(charge)) {}
  std::uint64_t record_;  // 0: moved from
  UtcTime time_;
  Charge charge_;
};

struct LedgerOptions {
  // Where the host notes how far the ledger has come.
  std::shared_ptr<AnchorStore> anchor;
  // The host states that nothing was told before what the ledger at hand says. An anchor that knows better
  // outweighs it.
  bool first_use = false;
};

class Ledger {
 public:
  static Result<Ledger> create(const std::filesystem::path& path, const LedgerSettings& settings,
                               const ClockReading& now, const LedgerOptions& options = {});
  // Verifies every record. Cuts off an append that was interrupted; any other damage is an error.
  static Result<Ledger> open(const std::filesystem::path& path, const ClockReading& now,
                             const LedgerOptions& options = {});

  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  // Charges, then allows. A refusal (bad_input) names every budget that would be exceeded, what is left of it
  // and when more frees up; nothing is recorded then. A round of training is charged once. Free releases are
  // recorded too.
  Result<Receipt> charge(const Release& release, const ClockReading& now);
  // The budgets in the way of a charge; none: it would be accepted. Records nothing.
  Result<std::vector<Refusal>> refusals(const Release& release, const ClockReading& now) const;

  // New settings are a record like any other: they count from now on, and the statement shows when they
  // changed.
  Status change_settings(const LedgerSettings& settings, const ClockReading& now);
  LedgerSettings settings() const;

  // For the owner: sets the ledger's clock to the wall clock. The days and months around it, and the next
  // ones, count as spent, so that nothing is gained by it.
  Status mend_clock(const ClockReading& now);

  // The rounds of a campaign that this device was charged for, oldest first.
  std::vector<TrainingRound::Hash> rounds_of(const TrainingRound::Hash& campaign,
                                             ReleasePurpose purpose = ReleasePurpose::training) const;

  // The ledger's clock.
  Result<UtcTime> time_at(const ClockReading& now) const;
  std::uint64_t records() const;
  std::string id() const;  // 32 hexadecimal digits
  // The chain's hash at a record, from 1; none if there is no such record.
  std::optional<ChainHash> hash_at(std::uint64_t record) const;

  Result<LedgerStatement> statement(const ClockReading& now) const;

 private:
  struct State;
  explicit Ledger(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sotto::privacy
