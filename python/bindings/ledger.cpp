// sotto.privacy.Ledger: a device's durable account of everything it told.
#include "privacy/ledger/ledger.h"

#include <nlohmann/json.hpp>

#include "bindings/bindings.h"
#include "privacy/accounting/plan.h"
#include "privacy/ledger/ledger_statement.h"

namespace sotto::python {

using namespace nb::literals;

namespace {

privacy::LedgerSettings settings_with(const std::vector<std::pair<privacy::BudgetWindow, double>>& epsilons,
                                      double delta, const std::vector<std::string>& categories,
                                      const std::vector<std::string>& not_sensitive) {
  privacy::LedgerSettings settings{
      .unit = privacy::Unit::user,
      .adjacency = privacy::Adjacency::replace_one,
      .order = privacy::RequestOrder::adaptive,
      .sensitivity = value_of(privacy::SensitivitySettings::create(categories, not_sensitive)),
      .budgets = {}};
  for (const auto& [window, epsilon] : epsilons)
    if (epsilon > 0)
      settings.budgets.push_back({.window = window, .category = {}, .epsilon = epsilon, .delta = delta});
  check(privacy::validate(settings));
  return settings;
}

privacy::Ledger open_ledger(const fs::path& path, const privacy::LedgerSettings& settings, bool first_use) {
  const auto now = privacy::read_system_clocks();
  const privacy::LedgerOptions options{.anchor = nullptr, .first_use = first_use};
  if (!fs::exists(path)) return value_of(privacy::Ledger::create(path, settings, now, options));
  auto ledger = value_of(privacy::Ledger::open(path, now, options));
  check(ledger.change_settings(settings, now));
  return ledger;
}

privacy::ReleasePurpose purpose_of(const std::string& word) {
  for (const auto purpose :
       {privacy::ReleasePurpose::training, privacy::ReleasePurpose::labels, privacy::ReleasePurpose::serving})
    if (word == name(purpose)) return purpose;
  throw InputError(fmt::format("purpose is '{}', must be training, labels or serving", word));
}

privacy::Release release_of(const std::string& about, const std::string& purpose, const nb::kwargs& plan) {
  privacy::PrivacyPlan stated;
  stated.adjacency = "replace-one";  // what the ledger counts in
  SettingsTable table;
  stated.bind(table);
  apply_settings(settings_of(plan), table);
  return {.purpose = purpose_of(purpose),
          .event = value_of(privacy::event_of(stated)),
          .reads = std::nullopt,
          .about = about};
}

nb::object statement_for_python(const privacy::LedgerStatement& statement) {
  return to_python(nlohmann::json::parse(privacy::to_json(statement)));
}

}  // namespace

void bind_ledger(nb::module_& module) {
  nb::class_<privacy::Ledger>(
      module, "Ledger",
      "A device's account of everything it told: durable, append-only, hash-chained. A charge is on the disk "
      "before charge() returns, and what would exceed a budget is refused. Opens the file, or begins it; "
      "without "
      "`first_use` a file that is not there begins with its budgets spent, because it may have been deleted.")
      .def(
          "__init__",
          [](privacy::Ledger* made, const fs::path& path, double day, double month, double lifetime,
             double delta, const std::vector<std::string>& categories,
             const std::vector<std::string>& not_sensitive, bool first_use) {
            const auto settings = settings_with({{privacy::BudgetWindow::day, day},
                                                 {privacy::BudgetWindow::month, month},
                                                 {privacy::BudgetWindow::lifetime, lifetime}},
                                                delta, categories, not_sensitive);
            new (made) privacy::Ledger(unlocked([&] { return open_ledger(path, settings, first_use); }));
          },
          "path"_a, nb::kw_only(), "day_epsilon"_a = 0.0, "month_epsilon"_a = 0.0, "lifetime_epsilon"_a = 0.0,
          "delta"_a = 1e-6, "categories"_a = std::vector<std::string>{"all"},
          "not_sensitive"_a = std::vector<std::string>{}, "first_use"_a = false,
          nb::sig("def __init__(self, path: str | os.PathLike[str], *, day_epsilon: float = 0.0, "
                  "month_epsilon: float = 0.0, lifetime_epsilon: float = 0.0, delta: float = 1e-06, "
                  "categories: collections.abc.Sequence[str] = ['all'], not_sensitive: "
                  "collections.abc.Sequence[str] = [], first_use: bool = False) -> None"))
      .def(
          "charge",
          [](privacy::Ledger& ledger, const std::string& about, const std::string& purpose,
             const nb::kwargs& plan) {
            const auto release = release_of(about, purpose, plan);
            return unlocked(
                [&] { return value_of(ledger.charge(release, privacy::read_system_clocks())).record(); });
          },
          "about"_a, "purpose"_a = "serving", "plan"_a,
          nb::sig("def charge(self, about: str, purpose: str = 'serving', **plan: str | float | bool | None) "
                  "-> int"),
          "Charges one release, stated by the settings of a plan, and returns the number of its record. A "
          "refusal "
          "names every budget in the way, and nothing is recorded.")
      .def(
          "would_be_refused",
          [](const privacy::Ledger& ledger, const std::string& purpose, const nb::kwargs& plan) {
            const auto release = release_of("", purpose, plan);
            return unlocked(
                [&] { return !value_of(ledger.refusals(release, privacy::read_system_clocks())).empty(); });
          },
          "purpose"_a = "serving", "plan"_a,
          nb::sig("def would_be_refused(self, purpose: str = 'serving', **plan: str | float | bool | None) "
                  "-> bool"),
          "Whether a budget is in the way of such a release. Records nothing.")
      .def(
          "statement",
          [](const privacy::Ledger& ledger) {
            const auto statement =
                unlocked([&] { return value_of(ledger.statement(privacy::read_system_clocks())); });
            return statement_for_python(statement);
          },
          nb::sig("def statement(self) -> dict[str, typing.Any]"),
          "What was told, and what is left of every budget.")
      .def_prop_ro("records", &privacy::Ledger::records)
      .def_prop_ro("id", &privacy::Ledger::id);
  module.def(
      "read_statement",
      [](const fs::path& path) {
        const auto statement =
            unlocked([&] { return value_of(privacy::read_statement(path, privacy::read_system_clocks())); });
        return statement_for_python(statement);
      },
      "path"_a, nb::sig("def read_statement(path: str | os.PathLike[str]) -> dict[str, typing.Any]"),
      "Verifies the chain of a ledger file and says what it holds. Changes nothing.");
}

}  // namespace sotto::python
