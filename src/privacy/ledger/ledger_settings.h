#pragma once
// What a person decided: how much may be told, per which window and about what. Plain values.

#include <optional>
#include <string>
#include <vector>

#include "privacy/accounting/event.h"
#include "privacy/ledger/ledger_clock.h"
#include "privacy/ledger/sensitivity.h"

namespace sotto {

// May what is asked next depend on what was answered before?
enum class RequestOrder : std::uint8_t {
  adaptive,  // yes: budgets are privacy filters, which hold against a server that chooses as it goes
  planned,   // no, the releases follow a plan made beforehand: the tightest accountants apply
};

struct LedgerBudget {
  BudgetWindow window = BudgetWindow::lifetime;
  std::optional<CategoryId> category;  // none: everything together
  double epsilon = 0;
  double delta = 0;
};

struct LedgerSettings {
  // What one ε of this ledger protects. Releases are restated for it where a theorem allows, and refused
  // elsewhere. Fixed when the ledger is created, like `order`.
  Unit unit;
  Adjacency adjacency;
  RequestOrder order;
  SensitivitySettings sensitivity;
  std::vector<LedgerBudget> budgets;  // at least one that covers everything; no two for the same thing
};

// Refuses settings under which nothing, or nothing provable, would be promised.
Status validate(const LedgerSettings& settings);

// May `after` replace `before`? Categories may be added at the end and change their sensitivity, budgets may
// change; what earlier charges were counted in may not.
Status validate_change(const LedgerSettings& before, const LedgerSettings& after);

// "day", "month, health"
std::string describe(const LedgerBudget& budget, const SensitivitySettings& sensitivity);
std::string_view name(RequestOrder order);

}  // namespace sotto
