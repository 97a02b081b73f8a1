#pragma once
// What a chain of records amounts to: settings in force, uses per window, category and purpose, and whether a
// further charge fits. No files, no clock.
//
// Records are dated by the ledger's own clock (ledger_clock.h), which moves forward only: a clock that goes
// backwards cannot bring an emptied window back. Only records move it, questions do not. Not thread-safe.

#include <array>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "privacy/ledger/ledger_record.h"
#include "privacy/ledger/spending.h"

namespace sotto::privacy {

// One budget, and how it stands.
struct BudgetState {
  LedgerBudget budget;
  Spent spent;
  std::uint64_t charges = 0;            // that cost something
  WindowSpan window;                    // of a closed one: until it opens
  std::optional<ClosingReason> closed;  // it counts as spent, whatever was
  double left() const { return spent.epsilon < budget.epsilon ? budget.epsilon - spent.epsilon : 0; }
};

struct Refusal {
  BudgetState state;  // before the charge
  double epsilon_with_charge = 0;
  bool fits_alone = true;  // false: an unspent budget would not do either
};

class LedgerBooks {
 public:
  // The first record must be settings.
  static Result<LedgerBooks> begin(const LedgerRecord& first);
  // From the bodies of a verified chain. The chain says that nothing was changed since it was written; this
  // says that it was written sensibly.
  static Result<LedgerBooks> replay(std::span<const std::string> bodies);
  // Can the record follow the ones before?
  Status check(const LedgerRecord& record) const;
  // Checks and adds. An error changes nothing.
  Status apply(const LedgerRecord& record);

  const LedgerSettings& settings() const { return settings_; }
  std::uint64_t records() const { return records_; }
  UtcTime began() const { return began_; }
  UtcTime latest() const { return latest_.time; }
  // The ledger's clock at a reading.
  Moment at(const ClockReading& now) const { return moment_after(latest_, now); }

  // The rounds that were charged, oldest first, of training and of evaluation; those of one campaign.
  const std::vector<TrainingRound>& rounds() const { return rounds_; }
  std::vector<TrainingRound::Hash> rounds_of(const TrainingRound::Hash& campaign,
                                             ReleasePurpose purpose) const;

  // The budgets that the charge would exceed at that time; none: it fits.
  Result<std::vector<Refusal>> refusals(const Charge& charge, UtcTime at) const;
  std::vector<BudgetState> budget_states(UtcTime at) const;

  // For statements: everything since the beginning, as one event per kind.
  struct Uses {
    EventTally tally;
    std::uint64_t charges = 0;  // that cost something
    std::uint64_t free = 0;     // releases that cost nothing
  };
  const Uses& total() const { return window(BudgetWindow::lifetime).all; }
  const Uses& purpose(ReleasePurpose purpose) const {
    return window(BudgetWindow::lifetime).purposes[static_cast<std::size_t>(purpose)];
  }
  // In the window around that time; nothing once it is over.
  const Uses& total_in(BudgetWindow window, UtcTime at) const;
  const Uses& purpose_in(BudgetWindow window, ReleasePurpose purpose, UtcTime at) const;
  const Uses& category(CategoryId category) const {
    return window(BudgetWindow::lifetime).categories[category];
  }
  std::vector<PrivacyEvent> events(const Uses& uses) const { return kinds_.events(uses.tally); }

 private:
  struct WindowUses {
    UtcTime begin;
    Uses all;
    std::array<Uses, release_purposes> purposes;
    std::vector<Uses> categories;
    std::optional<ClosingReason> closed;
    std::optional<UtcTime> closed_until;  // none: for ever
    bool is_closed(UtcTime at) const { return closed && (!closed_until || at < *closed_until); }
    void start(UtcTime from);  // a window without uses
  };

  explicit LedgerBooks(const SettingsRecord& first);
  Status check(const SettingsRecord& record) const;
  Status check(const ChargeRecord& record) const;
  static Status check(const ClosingRecord&) { return {}; }
  void add(const SettingsRecord& record);
  void add(const ChargeRecord& record);
  void add(const ClosingRecord& record);
  void adopt(const LedgerSettings& settings);
  const WindowUses& window(BudgetWindow window) const { return windows_[static_cast<std::size_t>(window)]; }
  bool is_over(BudgetWindow which, UtcTime at) const {
    return window_around(which, at).begin > window(which).begin;
  }
  // What counts against the budget at that time; nothing once its window is over.
  const Uses& uses(const LedgerBudget& budget, UtcTime at) const;
  Spent spent(std::size_t budget, const std::vector<PrivacyEvent>& events, double enough) const;
  // Budgets of categories that are always charged together have equal tallies: each is composed once.
  class Memo;
  BudgetState state(std::size_t budget, UtcTime at, Memo& memo) const;

  LedgerSettings settings_;
  std::vector<PrivacyFilter> filters_;  // one per budget
  EventKinds kinds_;
  std::array<WindowUses, 3> windows_;
  std::vector<TrainingRound> rounds_;          // that were charged
  std::vector<ReleasePurpose> purposes_;       // of each
  std::set<TrainingRound::Hash> round_names_;  // of all of them
  std::uint64_t records_ = 0;
  UtcTime began_;
  Moment latest_;
};

}  // namespace sotto::privacy
