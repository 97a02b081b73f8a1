#include "data/open_histories.h"

#include <algorithm>
#include <vector>

#include "base/settings.h"
#include "data/dataset_builder.h"
#include "data/dataset_copy.h"

namespace sotto {

namespace {

// By category number: whether its clicks may be told.
Result<std::vector<std::uint8_t>> told(const Catalogue& catalogue, std::span<const std::string> categories) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < catalogue.category_names.size(); ++i)
    names.emplace_back(catalogue.category_names[i]);
  std::vector<std::uint8_t> open(names.size(), 0);
  for (const std::string& category : categories) {
    const auto found = std::find(names.begin(), names.end(), category);
    if (category.empty()) return bad_input("items without a category are always sensitive");
    if (found == names.end()) {
      const auto near = nearest(category, names);
      return bad_input("no item has the category '{}'{}", category,
                       near ? "; did you mean '" + *near + "'?" : "");
    }
    open[static_cast<std::size_t>(found - names.begin())] = 1;
  }
  return open;
}

}  // namespace

Status check_categories(const Catalogue& catalogue, std::span<const std::string> categories) {
  SOTTO_TRY(const auto open, told(catalogue, categories));
  (void)open;
  return {};
}

Result<Dataset> open_histories(const Dataset& source, std::span<const std::string> categories,
                               const fs::path& folder) {
  const Catalogue& catalogue = source.catalogue();
  SOTTO_TRY(const auto open, told(catalogue, categories));
  DatasetBuilder builder(std::string(source.name()), "histories of categories that are not sensitive");
  SOTTO_CHECK(copy_items(source, builder));
  SOTTO_CHECK(copy_users(source, builder));
  std::vector<ItemId> kept;
  for (std::size_t i = 0; i < source.impression_count(); ++i) {
    const Impression impression = source.impression(i);
    if (impression.split != Split::test) continue;
    kept.clear();
    for (const ItemId item : impression.history)
      if (open[catalogue.categories[item]] != 0) kept.push_back(item);
    builder.add_impression(impression.user, impression.time, impression.split, builder.add_history(kept),
                           static_cast<std::uint32_t>(kept.size()), impression.shown, impression.clicked);
  }
  SOTTO_CHECK(builder.write(folder));
  return Dataset::open(folder);
}

}  // namespace sotto
