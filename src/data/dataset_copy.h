#pragma once
// Copies the parts of a dataset that a view of it keeps.

#include "base/result.h"
#include "data/dataset.h"
#include "data/dataset_builder.h"

namespace sotto {

// Texts, categories, entities with their vectors, and features. The builder must hold no items yet: they keep
// their numbers. Fails when the ids of the source are not unique.
Status copy_items(const Dataset& source, DatasetBuilder& target);

// User ids and features, under the same conditions.
Status copy_users(const Dataset& source, DatasetBuilder& target);

}  // namespace sotto
