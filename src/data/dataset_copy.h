#pragma once
// Copies the parts of a dataset that a view of it keeps.

#include <span>
#include <string>

#include "base/files.h"
#include "base/result.h"
#include "data/dataset.h"
#include "data/dataset_builder.h"

namespace sotto::data {

// Texts, categories, entities with their vectors, and features. The builder must hold no items yet: they keep
// their numbers. Fails when the ids of the source are not unique.
Status copy_items(const Dataset& source, DatasetBuilder& target);

// User ids, features and their declared values, under the same conditions.
Status copy_users(const Dataset& source, DatasetBuilder& target);

// What is left of a data set when readers tell only of categories they called not sensitive: the same items
// and users, and the test impressions with histories that hold clicks of these categories alone. Whoever is
// given this data cannot look at any other click, nor tell whether there are any.

// Refuses names that are no item's category, with the nearest one, and the empty one: items without a
// category are always sensitive.
Status check_categories(const Catalogue& catalogue, std::span<const std::string> categories);

// Written into an existing folder and opened from there.
Result<Dataset> open_histories(const Dataset& source, std::span<const std::string> categories,
                               const fs::path& folder);

}  // namespace sotto::data
