#include <cmath>

#include "privacy/ledger/ledger_statement.h"

namespace sotto {
namespace {

std::string shown(double epsilon) {
  return std::isfinite(epsilon) ? fmt::format("{:.4g}", epsilon) : std::string("no bound");
}

std::string sensitivity_in_words(const SensitivitySettings& sensitivity) {
  std::vector<std::string_view> open;
  const auto& categories = sensitivity.categories();
  for (std::size_t i = 0; i < categories.size(); ++i) {
    if (!sensitivity.is_sensitive(static_cast<CategoryId>(i))) open.push_back(categories[i]);
  }
  if (open.empty()) return fmt::format("all {} categories", categories.size());
  return fmt::format("{} of {} categories; not sensitive: {}", categories.size() - open.size(),
                     categories.size(), fmt::join(open, ", "));
}

std::string to_line(const SpendingLine& line) {
  return fmt::format("  {:<24} {:>8} {:>8} {:>10}  {}\n", line.what, line.charges, line.free,
                     shown(line.spent.epsilon), line.spent.method);
}

}  // namespace

std::string to_text(const LedgerStatement& statement) {
  const LedgerSettings& settings = statement.settings;
  std::string text = fmt::format(
      "Ledger {}\n"
      "  made       {}\n"
      "  covers     {} to {}, {} records\n"
      "  chain      verified{}, head {}\n"
      "  protects   one {}, {}, against the server; requests {}\n"
      "  sensitive  {}\n",
      statement.id, to_text(statement.made), to_text(statement.began), to_text(statement.latest),
      statement.records, statement.anchored ? ", continues its anchor" : "", statement.head,
      name(settings.unit), name(settings.adjacency), name(settings.order),
      sensitivity_in_words(settings.sensitivity));
  if (statement.torn_bytes > 0) {
    text += fmt::format("  unfinished {} bytes of a record that was never receipted\n", statement.torn_bytes);
  }
  text += fmt::format("\nBudgets\n  {:<24} {:>8} {:>10} {:>10} {:>10} {:>10}  {:<18} {}\n", "per", "charges",
                      "delta", "epsilon", "spent", "left", "method", "frees up");
  for (const BudgetState& state : statement.budgets) {
    text += fmt::format("  {:<24} {:>8} {:>10g} {:>10g} {:>10} {:>10} {:<18} {}\n",
                        describe(state.budget, settings.sensitivity), state.charges, state.budget.delta,
                        state.budget.epsilon, shown(state.spent.epsilon), shown(state.left()),
                        "  " + state.spent.method, state.window.end ? to_text(*state.window.end) : "never");
  }
  text += fmt::format("\nTold since the beginning, epsilon at delta {:g}\n  {:<24} {:>8} {:>8} {:>10}  {}\n",
                      statement.delta, "", "charges", "free", "epsilon", "method");
  text += to_line(statement.total);
  for (const SpendingLine& line : statement.purposes) text += to_line(line);
  text += "\nAbout\n";
  for (const SpendingLine& line : statement.categories) text += to_line(line);
  if (!statement.releases.empty()) {
    text +=
        fmt::format("\nReleases, restated for one {}, {}\n", name(settings.unit), name(settings.adjacency));
    for (const std::string& release : statement.releases) text += "  " + release + "\n";
  }
  return text;
}

}  // namespace sotto
