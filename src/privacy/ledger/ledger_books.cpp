#include "privacy/ledger/ledger_books.h"

#include <algorithm>

#include "privacy/accounting/log_math.h"

namespace sotto {
namespace {

constexpr std::array kWindows = {BudgetWindow::day, BudgetWindow::month, BudgetWindow::lifetime};

bool concerns(const Charge& charge, const LedgerBudget& budget) {
  return charge.event && (!budget.category || std::binary_search(charge.categories.begin(),
                                                                 charge.categories.end(), *budget.category));
}

}  // namespace

LedgerBooks::LedgerBooks(const SettingsRecord& first)
    : settings_(first.settings), records_(1), began_(first.time), latest_(first.time) {
  for (const BudgetWindow window : kWindows) {
    windows_[static_cast<std::size_t>(window)].begin = window_around(window, first.time).begin;
  }
  adopt(first.settings);
}

Result<LedgerBooks> LedgerBooks::begin(const LedgerRecord& first) {
  const auto* settings = std::get_if<SettingsRecord>(&first);
  if (settings == nullptr) return bad_input("the ledger does not begin with its settings");
  return LedgerBooks(*settings);
}

void LedgerBooks::adopt(const LedgerSettings& settings) {
  settings_ = settings;
  filters_.clear();
  for (const LedgerBudget& budget : settings_.budgets) filters_.emplace_back(budget.epsilon, budget.delta);
  for (WindowUses& window : windows_) window.categories.resize(settings_.sensitivity.categories().size());
}

Status LedgerBooks::check(const LedgerRecord& record) const {
  const UtcTime time = std::visit([](const auto& one) { return one.time; }, record);
  if (time < latest_) return bad_input("record {} is dated before the one it follows", records_ + 1);
  return std::visit([this](const auto& one) { return check(one); }, record);
}

Status LedgerBooks::check(const SettingsRecord& record) const {
  return validate_change(settings_, record.settings);
}

Status LedgerBooks::check(const ChargeRecord& record) const {
  const Charge& charge = record.charge;
  if (!charge.categories.empty() && charge.categories.back() >= settings_.sensitivity.categories().size()) {
    return bad_input("record {} names a category that the ledger does not know", records_ + 1);
  }
  if (charge.event) SOTTO_CHECK(restate(*charge.event, settings_.unit, settings_.adjacency));
  return {};
}

Status LedgerBooks::apply(const LedgerRecord& record) {
  SOTTO_CHECK(check(record));
  std::visit([this](const auto& one) { add(one); }, record);
  latest_ = std::visit([](const auto& one) { return one.time; }, record);
  ++records_;
  return {};
}

void LedgerBooks::add(const SettingsRecord& record) { adopt(record.settings); }

void LedgerBooks::add(const ChargeRecord& record) {
  const Charge& charge = record.charge;
  Uses& of_purpose = purposes_[static_cast<std::size_t>(charge.purpose)];
  if (!charge.event) {
    ++of_purpose.free;
    ++windows_[static_cast<std::size_t>(BudgetWindow::lifetime)].all.free;
    return;
  }
  const PrivacyEvent event = *restate(*charge.event, settings_.unit, settings_.adjacency);
  const std::uint32_t kind = kinds_.intern(event);
  const auto count = [&](Uses& uses) {
    uses.tally.add(kind, event.count);
    ++uses.charges;
  };
  count(of_purpose);
  for (const BudgetWindow which : kWindows) {
    WindowUses& window = windows_[static_cast<std::size_t>(which)];
    if (const UtcTime begin = window_around(which, record.time).begin; begin > window.begin) {
      window.begin = begin;
      window.all = {};
      std::fill(window.categories.begin(), window.categories.end(), Uses{});
    }
    count(window.all);
    for (const CategoryId category : charge.categories) count(window.categories[category]);
  }
}

const LedgerBooks::Uses& LedgerBooks::uses(const LedgerBudget& budget, UtcTime at) const {
  static const Uses nothing;
  const WindowUses& found = window(budget.window);
  if (window_around(budget.window, at).begin > found.begin) return nothing;
  return budget.category ? found.categories[*budget.category] : found.all;
}

Spent LedgerBooks::spent(std::size_t budget, const std::vector<PrivacyEvent>& events, double enough) const {
  if (settings_.order == RequestOrder::adaptive) return filters_[budget].spent(events);
  return spent_as_planned(events, settings_.budgets[budget].delta, enough);
}

class LedgerBooks::Memo {
 public:
  explicit Memo(const LedgerBooks& books) : books_(books) {}

  // unseen: as for EventKinds::events. enough: as for spent_as_planned.
  const Spent& spent(std::size_t budget, const EventTally& tally, const PrivacyEvent* unseen, double enough) {
    const LedgerBudget& which = books_.settings_.budgets[budget];
    auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& one) {
      return one.epsilon == which.epsilon && one.delta == which.delta && one.enough == enough &&
             one.tally == tally;
    });
    if (known == known_.end()) {
      Spent spent = books_.spent(budget, books_.kinds_.events(tally, unseen), enough);
      known = known_.insert(known, {tally, which.epsilon, which.delta, enough, std::move(spent)});
    }
    return known->spent;
  }

 private:
  struct Known {
    EventTally tally;
    double epsilon, delta, enough;
    Spent spent;
  };
  const LedgerBooks& books_;
  std::vector<Known> known_;
};

BudgetState LedgerBooks::state(std::size_t budget, UtcTime at, Memo& memo) const {
  const LedgerBudget& which = settings_.budgets[budget];
  const Uses& found = uses(which, at);
  return {which, memo.spent(budget, found.tally, nullptr, 0), found.charges, window_around(which.window, at)};
}

Result<std::vector<Refusal>> LedgerBooks::refusals(const Charge& charge, UtcTime now) const {
  std::vector<Refusal> refused;
  if (!charge.event) return refused;
  const UtcTime at = effective(now);
  SOTTO_TRY(const PrivacyEvent event, restate(*charge.event, settings_.unit, settings_.adjacency));
  EventTally alone;
  alone.add(kinds_.number_of(event), event.count);
  Memo memo(*this);
  for (std::size_t i = 0; i < settings_.budgets.size(); ++i) {
    const LedgerBudget& budget = settings_.budgets[i];
    if (!concerns(charge, budget)) continue;
    EventTally together = uses(budget, at).tally;
    together.add(alone.entries().front().kind, event.count);
    const double epsilon = memo.spent(i, together, &event, budget.epsilon).epsilon;
    if (within(epsilon, budget.epsilon)) continue;
    const double epsilon_alone = memo.spent(i, alone, &event, budget.epsilon).epsilon;
    refused.push_back({state(i, at, memo), epsilon, within(epsilon_alone, budget.epsilon)});
  }
  return refused;
}

std::vector<BudgetState> LedgerBooks::budget_states(UtcTime now) const {
  std::vector<BudgetState> states;
  Memo memo(*this);
  for (std::size_t i = 0; i < settings_.budgets.size(); ++i) states.push_back(state(i, effective(now), memo));
  return states;
}

}  // namespace sotto
