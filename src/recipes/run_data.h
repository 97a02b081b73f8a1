#pragma once
// What a run may see of a data set: all of it, or, where its recipe promises an epsilon, the public part and
// every user's own rows (data/public_part.h). Training, measuring and publishing a run all go through here,
// so that numbers of items mean the same to all of them.

#include "data/dataset.h"
#include "recipes/recipe.h"

namespace sotto::recipes {

// To be trained on. Tells the log what is left out; refuses rows that depend on other users.
Result<data::Dataset> training_data_of(const Recipe& recipe, const data::Dataset& dataset);

// To measure or publish what was trained.
Result<data::Dataset> data_of_run(const Recipe& recipe, const data::Dataset& dataset);
Result<data::Dataset> data_of_run(const fs::path& run, const data::Dataset& dataset);

// For the sound paths themselves: refuses data that did not come through here.
Status check_may_train_privately(const data::Dataset& dataset);

}  // namespace sotto::recipes
