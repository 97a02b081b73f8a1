#include "privacy/ledger/ledger_books.h"

#include <algorithm>

#include "privacy/accounting/log_math.h"
#include "privacy/accounting/rdp_curves.h"

namespace sotto::privacy {
namespace {

constexpr std::array windows = {BudgetWindow::day, BudgetWindow::month, BudgetWindow::lifetime};

bool concerns(const Charge& charge, const LedgerBudget& budget) {
  return charge.event && (!budget.category || std::binary_search(charge.categories.begin(),
                                                                 charge.categories.end(), *budget.category));
}

}  // namespace

LedgerBooks::LedgerBooks(const SettingsRecord& first)
    : settings_(first.settings), records_(1), began_(first.when.time), latest_(first.when) {
  for (const BudgetWindow window : windows) {
    windows_[static_cast<std::size_t>(window)].begin = window_around(window, first.when.time).begin;
  }
  adopt(first.settings);
}

Result<LedgerBooks> LedgerBooks::begin(const LedgerRecord& first) {
  const auto* settings = std::get_if<SettingsRecord>(&first);
  if (settings == nullptr) return bad_input("the ledger does not begin with its settings");
  return LedgerBooks(*settings);
}

Result<LedgerBooks> LedgerBooks::replay(std::span<const std::string> bodies) {
  const auto decode = [&](std::size_t i) -> Result<LedgerRecord> {
    auto record = decode_record(bodies[i]);
    if (record) return record;
    return tl::unexpected(std::move(record).error().in(
        fmt::format("record {} was not written by a version of this program that can be read here", i + 1)));
  };
  if (bodies.empty()) {
    return bad_input("the ledger is cut off before the end of its first record: {}", ledger_format.advice);
  }
  SOTTO_TRY(const LedgerRecord first, decode(0));
  SOTTO_TRY(LedgerBooks books, begin(first));
  for (std::size_t i = 1; i < bodies.size(); ++i) {
    SOTTO_TRY(const LedgerRecord record, decode(i));
    SOTTO_CHECK(books.apply(record));
  }
  return books;
}

void LedgerBooks::adopt(const LedgerSettings& settings) {
  settings_ = settings;
  filters_.clear();
  for (const LedgerBudget& budget : settings_.budgets) filters_.emplace_back(budget.epsilon, budget.delta);
  for (WindowUses& window : windows_) window.categories.resize(settings_.sensitivity.categories().size());
}

Status LedgerBooks::check(const LedgerRecord& record) const {
  const UtcTime time = std::visit([](const auto& one) { return one.when.time; }, record);
  const auto* closing = std::get_if<ClosingRecord>(&record);
  const bool sets_the_clock = closing != nullptr && closing->reason == ClosingReason::clock_mended;
  if (time < latest_.time && !sets_the_clock)
    return bad_input("record {} is dated before the one it follows", records_ + 1);
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
  if (charge.round && round_names_.contains(charge.round->round))
    return bad_input(
        "refused: this round of training was charged before, and nobody takes part in one twice");
  return {};
}

Status LedgerBooks::apply(const LedgerRecord& record) {
  SOTTO_CHECK(check(record));
  std::visit([this](const auto& one) { add(one); }, record);
  latest_ = std::visit([](const auto& one) { return one.when; }, record);
  ++records_;
  return {};
}

void LedgerBooks::WindowUses::start(UtcTime from) {
  begin = from;
  all = {};
  purposes = {};
  std::fill(categories.begin(), categories.end(), Uses{});
}

void LedgerBooks::add(const SettingsRecord& record) { adopt(record.settings); }

void LedgerBooks::add(const ChargeRecord& record) {
  const Charge& charge = record.charge;
  if (charge.round) {
    rounds_.push_back(*charge.round);
    purposes_.push_back(charge.purpose);
    round_names_.insert(charge.round->round);
  }
  const auto purpose = static_cast<std::size_t>(charge.purpose);
  if (!charge.event) {
    WindowUses& ever = windows_[static_cast<std::size_t>(BudgetWindow::lifetime)];
    ++ever.purposes[purpose].free;
    ++ever.all.free;
    return;
  }
  const PrivacyEvent event = *restate(*charge.event, settings_.unit, settings_.adjacency);
  const std::uint32_t kind = kinds_.intern(event);
  const auto count = [&](Uses& uses) {
    uses.tally.add(kind, event.count);
    ++uses.charges;
  };
  for (const BudgetWindow which : windows) {
    WindowUses& window = windows_[static_cast<std::size_t>(which)];
    if (is_over(which, record.when.time)) window.start(window_around(which, record.when.time).begin);
    count(window.all);
    count(window.purposes[purpose]);
    for (const CategoryId category : charge.categories) count(window.categories[category]);
  }
}

void LedgerBooks::add(const ClosingRecord& record) {
  for (const BudgetWindow which : windows) {
    WindowUses& window = windows_[static_cast<std::size_t>(which)];
    const WindowSpan around = window_around(which, record.when.time);
    if (!around.end) {
      if (record.reason == ClosingReason::past_unknown) window.closed = record.reason;
      continue;
    }
    window.start(around.begin);
    window.closed = record.reason;
    window.closed_until = window_around(which, *around.end).end;
  }
}

std::vector<TrainingRound::Hash> LedgerBooks::rounds_of(const TrainingRound::Hash& campaign,
                                                        ReleasePurpose purpose) const {
  std::vector<TrainingRound::Hash> found;
  for (std::size_t i = 0; i < rounds_.size(); ++i)
    if (rounds_[i].campaign == campaign && purposes_[i] == purpose) found.push_back(rounds_[i].round);
  return found;
}

namespace {
const LedgerBooks::Uses nothing_used;
}

const LedgerBooks::Uses& LedgerBooks::total_in(BudgetWindow which, UtcTime at) const {
  if (is_over(which, at)) return nothing_used;
  return window(which).all;
}

const LedgerBooks::Uses& LedgerBooks::purpose_in(BudgetWindow which, ReleasePurpose purpose,
                                                 UtcTime at) const {
  if (is_over(which, at)) return nothing_used;
  return window(which).purposes[static_cast<std::size_t>(purpose)];
}

const LedgerBooks::Uses& LedgerBooks::uses(const LedgerBudget& budget, UtcTime at) const {
  if (!budget.category) return total_in(budget.window, at);
  if (is_over(budget.window, at)) return nothing_used;
  return window(budget.window).categories[*budget.category];
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
  BudgetState state{which, memo.spent(budget, found.tally, nullptr, 0), found.charges,
                    window_around(which.window, at), std::nullopt};
  if (const WindowUses& around = window(which.window); around.is_closed(at)) {
    state.spent = {std::max(which.epsilon, state.spent.epsilon), "unknown"};
    state.window.end = around.closed_until;
    state.closed = around.closed;
  }
  return state;
}

Result<std::vector<Refusal>> LedgerBooks::refusals(const Charge& charge, UtcTime at) const {
  std::vector<Refusal> refused;
  if (!charge.event) return refused;
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
    // What adds no ε is no worse for not knowing what was told before.
    const bool adds_nothing = rdp_at_infinity(event.mechanism) == 0;
    if (within(epsilon, budget.epsilon) && (adds_nothing || !window(budget.window).is_closed(at))) continue;
    const double epsilon_alone = memo.spent(i, alone, &event, budget.epsilon).epsilon;
    refused.push_back({state(i, at, memo), epsilon, within(epsilon_alone, budget.epsilon)});
  }
  return refused;
}

std::vector<BudgetState> LedgerBooks::budget_states(UtcTime at) const {
  std::vector<BudgetState> states;
  Memo memo(*this);
  for (std::size_t i = 0; i < settings_.budgets.size(); ++i) states.push_back(state(i, at, memo));
  return states;
}

}  // namespace sotto::privacy
