#include "privacy/ledger/ledger_statement.h"

#include <algorithm>

#include "privacy/ledger/journal_file.h"
#include "privacy/ledger/ledger_anchor.h"
#include "privacy/ledger/replay.h"

namespace sotto {
namespace {

double delta_of_lines(const std::vector<LedgerBudget>& budgets) {
  double delta = 1;
  for (const LedgerBudget& budget : budgets) {
    if (budget.window == BudgetWindow::lifetime && !budget.category) return budget.delta;
    delta = std::min(delta, budget.delta);
  }
  return delta;
}

// Equal tallies (categories that are always charged together) are accounted for once.
class Lines {
 public:
  Lines(const LedgerBooks& books, double delta) : books_(books), delta_(delta) {}
  SpendingLine line(std::string what, const LedgerBooks::Uses& uses) {
    auto known = std::find_if(known_.begin(), known_.end(),
                              [&](const auto& one) { return one.first->tally == uses.tally; });
    if (known == known_.end()) {
      known = known_.insert(known_.end(), {&uses, spent_as_planned(books_.events(uses), delta_)});
    }
    return {std::move(what), uses.charges, uses.free, known->second};
  }

 private:
  const LedgerBooks& books_;
  double delta_;
  std::vector<std::pair<const LedgerBooks::Uses*, Spent>> known_;
};

}  // namespace

LedgerStatement make_statement(const LedgerBooks& books, const journal_format::LedgerId& id,
                               const ChainHash& head, UtcTime now) {
  const LedgerSettings& settings = books.settings();
  LedgerStatement statement{.id = to_hex(id),
                            .head = to_hex(head),
                            .records = books.records(),
                            .began = books.began(),
                            .latest = books.latest(),
                            .made = books.effective(now),
                            .settings = settings};
  statement.budgets = books.budget_states(now);
  statement.delta = delta_of_lines(settings.budgets);
  Lines lines(books, statement.delta);
  statement.total = lines.line("everything", books.total());
  for (const auto purpose : {ReleasePurpose::training, ReleasePurpose::labels, ReleasePurpose::serving}) {
    statement.purposes.push_back(lines.line(std::string(name(purpose)), books.purpose(purpose)));
  }
  const auto& categories = settings.sensitivity.categories();
  for (std::size_t i = 0; i < categories.size(); ++i) {
    const auto category = static_cast<CategoryId>(i);
    const LedgerBooks::Uses& uses = books.category(category);
    if (!settings.sensitivity.is_sensitive(category) && uses.charges == 0) continue;
    statement.categories.push_back(lines.line(categories[i], uses));
  }
  for (const PrivacyEvent& event : books.events(books.total())) {
    statement.releases.push_back(fmt::format("{} × {}", event.count, describe(event.mechanism)));
  }
  return statement;
}

Result<LedgerStatement> read_statement(const std::filesystem::path& path, UtcTime now,
                                       const std::optional<std::filesystem::path>& anchor) {
  SOTTO_CHECK(validate(now));
  // Before the ledger, which may grow meanwhile.
  std::optional<LedgerAnchor> noted;
  if (anchor) {
    SOTTO_TRY(noted, read_anchor(*anchor));
  }
  SOTTO_TRY(const std::string content, read_journal(path));
  auto statement = [&]() -> Result<LedgerStatement> {
    SOTTO_TRY(const journal_format::Journal journal, journal_format::parse(content));
    if (noted) SOTTO_CHECK(check_anchor(*noted, journal.id, journal.hashes));
    SOTTO_TRY(const LedgerBooks books, replay(journal));
    LedgerStatement made = make_statement(books, journal.id, journal.hashes.back(), now);
    made.torn_bytes = journal.torn_bytes;
    made.anchored = noted.has_value();
    return made;
  }();
  if (!statement) return tl::unexpected(std::move(statement).error().in(path.string()));
  return statement;
}

}  // namespace sotto
