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

// Draws the request's number of test impressions, or of test users where the data has interactions, and keeps
// their order. The same ones in every run on a data set, so that their differences are not of the draw.
std::vector<std::uint32_t> drawn_tests(std::size_t tests, const RunRequest& request);
template <class Test>
void keep_drawn_tests(std::vector<Test>& tests, const RunRequest& request) {
  if (request.test_impressions == 0 || request.test_impressions >= tests.size()) return;
  std::vector<Test> kept;
  for (const std::uint32_t place : drawn_tests(tests.size(), request))
    kept.push_back(std::move(tests[place]));
  tests = std::move(kept);
}

// For the sound paths themselves: refuses data that did not come through here.
Status check_may_train_privately(const data::Dataset& dataset);

}  // namespace sotto::recipes
