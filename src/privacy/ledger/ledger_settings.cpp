#include "privacy/ledger/ledger_settings.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/settings.h"
#include "base/utf8.h"

namespace sotto::privacy {

Result<SensitivitySettings> SensitivitySettings::create(std::vector<std::string> categories,
                                                        const std::vector<std::string>& not_sensitive) {
  if (categories.empty()) {
    return bad_input("the ledger needs the list of categories; one named \"all\" will do");
  }
  if (categories.size() > max_categories) {
    return bad_input("{} categories are too many, at most {}: group them", categories.size(), max_categories);
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& category : categories) {
    if (category.empty() || category.size() > max_name_bytes || !is_printable(category)) {
      return bad_input("a category name is 1 to {} bytes of printable UTF-8, not \"{}\"", max_name_bytes,
                       printable(category));
    }
    if (!seen.insert(category).second) return bad_input("the category {} is listed twice", category);
  }
  SensitivitySettings settings(std::move(categories), {});
  settings.sensitive_.assign(settings.categories_.size(), true);
  for (const std::string& category : not_sensitive) {
    SOTTO_TRY(const CategoryId id, settings.find(category));
    settings.sensitive_[id] = false;
  }
  return settings;
}

Result<CategoryId> SensitivitySettings::find(std::string_view category) const {
  const auto at = std::find(categories_.begin(), categories_.end(), category);
  if (at != categories_.end()) return static_cast<CategoryId>(at - categories_.begin());
  const auto close = nearest(category, categories_);
  return bad_input("unknown category \"{}\"{}", printable(category),
                   close ? fmt::format(", did you mean \"{}\"?", *close)
                         : fmt::format("; known are {}", fmt::join(categories_, ", ")));
}

UnprotectedClicks UnprotectedClicks::from(std::span<const CategorisedClick> history,
                                          const SensitivitySettings& settings) {
  std::vector<std::uint64_t> items;
  for (const CategorisedClick& click : history) {
    const bool sensitive = click.categories.empty() ||
                           std::any_of(click.categories.begin(), click.categories.end(),
                                       [&](CategoryId category) { return settings.is_sensitive(category); });
    if (!sensitive) items.push_back(click.item);
  }
  return UnprotectedClicks(std::move(items));
}

Status validate(const LedgerSettings& settings) {
  if (settings.unit != Unit::user && settings.adjacency != Adjacency::replace_one) {
    return bad_input(
        "a ledger per {} counts under adjacency replace-one: what protects a whole user is restated for it",
        name(settings.unit));
  }
  const auto& budgets = settings.budgets;
  if (std::none_of(budgets.begin(), budgets.end(), [](const auto& budget) { return !budget.category; })) {
    return bad_input("no budget covers everything: give one per day, per month or for the lifetime");
  }
  for (auto budget = budgets.begin(); budget != budgets.end(); ++budget) {
    if (budget->category && *budget->category >= settings.sensitivity.categories().size()) {
      return bad_input("a budget names category number {}, but there are {}", *budget->category,
                       settings.sensitivity.categories().size());
    }
    const std::string what = describe(*budget, settings.sensitivity);
    if (!(budget->epsilon > 0) || !std::isfinite(budget->epsilon)) {
      return bad_input("the budget ({}) needs a finite epsilon above 0, not {}", what, budget->epsilon);
    }
    if (auto delta = validate_delta(budget->delta); !delta) {
      return tl::unexpected(std::move(delta).error().in(fmt::format("the budget ({})", what)));
    }
    if (std::any_of(budgets.begin(), budget, [&](const LedgerBudget& other) {
          return other.window == budget->window && other.category == budget->category;
        })) {
      return bad_input("there are two budgets for the same thing ({}): keep one", what);
    }
  }
  return {};
}

Status validate_change(const LedgerSettings& before, const LedgerSettings& after) {
  SOTTO_CHECK(validate(after));
  if (before.unit != after.unit || before.adjacency != after.adjacency || before.order != after.order) {
    return bad_input(
        "a ledger keeps its unit ({}), adjacency ({}) and order of requests ({}): begin a new ledger to "
        "count otherwise",
        name(before.unit), name(before.adjacency), name(before.order));
  }
  const auto& known = before.sensitivity.categories();
  const auto& wanted = after.sensitivity.categories();
  if (wanted.size() < known.size() || !std::equal(known.begin(), known.end(), wanted.begin())) {
    return bad_input(
        "categories may be added at the end, never removed, renamed or reordered: earlier charges name them");
  }
  return {};
}

std::string describe(const LedgerBudget& budget, const SensitivitySettings& sensitivity) {
  std::string text(name(budget.window));
  if (budget.category) text += ", " + sensitivity.categories()[*budget.category];
  return text;
}

std::string_view name(RequestOrder order) { return order == RequestOrder::adaptive ? "adaptive" : "planned"; }

}  // namespace sotto::privacy
