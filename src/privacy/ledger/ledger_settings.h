#pragma once
// What a person decided: how much may be told, per which window and about what. Plain values.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "privacy/accounting/event.h"
#include "privacy/ledger/ledger_clock.h"

namespace sotto::privacy {

// Which categories a person calls sensitive, and which clicks may therefore be used without protection.
//
// Two people with the same settings must look the same, whatever they clicked: the price of a release and its
// noise are computed from these settings alone (charge.h), and nothing here can tell whether a sensitive
// click exists. Plain immutable values, safe to share between threads.

// Position in SensitivitySettings::categories().
using CategoryId = std::uint16_t;

class SensitivitySettings {
 public:
  static constexpr std::size_t max_categories = 1024;
  static constexpr std::size_t max_name_bytes = 64;

  // Every category is sensitive unless it is named as not sensitive.
  static Result<SensitivitySettings> create(std::vector<std::string> categories,
                                            const std::vector<std::string>& not_sensitive = {});

  const std::vector<std::string>& categories() const { return categories_; }
  // A category that nobody knows is sensitive.
  bool is_sensitive(CategoryId category) const {
    return category >= sensitive_.size() || sensitive_[category];
  }
  // An error that names the nearest known category otherwise.
  Result<CategoryId> find(std::string_view category) const;

 private:
  SensitivitySettings(std::vector<std::string> categories, std::vector<bool> sensitive)
      : categories_(std::move(categories)), sensitive_(std::move(sensitive)) {}
  std::vector<std::string> categories_;
  std::vector<bool> sensitive_;
};

struct CategorisedClick {
  std::uint64_t item = 0;
  std::vector<CategoryId> categories;  // all of the item's; none counts as sensitive
};

// Clicks that may leave the device as they are: every category of the item is known and not sensitive. Only
// from() makes one, so a sender that takes this type cannot be handed anything else. Positions of what was
// left out are not kept, they would tell that something was left out.
class UnprotectedClicks {
 public:
  static UnprotectedClicks from(std::span<const CategorisedClick> history,
                                const SensitivitySettings& settings);
  std::span<const std::uint64_t> items() const { return items_; }  // in the order of the history

 private:
  explicit UnprotectedClicks(std::vector<std::uint64_t> items) : items_(std::move(items)) {}
  std::vector<std::uint64_t> items_;
};

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

}  // namespace sotto::privacy
