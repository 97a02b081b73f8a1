#include "privacy/ledger/sensitivity.h"

#include <algorithm>
#include <unordered_set>

#include "base/printable.h"
#include "base/settings.h"

namespace sotto {

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

}  // namespace sotto
