#pragma once
// A run folder read back: the recipe that made it, with its settings, and the news model it trained.

#include "recipes/recipe.h"
#include "recipes/trained_news.h"

namespace sotto::recipes {

struct StoredRun {
  const RecipeEntry* entry = nullptr;
  std::unique_ptr<Recipe> recipe;
  SettingsTable table;  // the recipe's settings, bound to it
  std::uint64_t seed = 1;
  std::string device;
  bool reproducible = false;
  // What it was trained on: name, folder and content (data/fingerprint.h).
  std::string dataset, fingerprint;
  fs::path data;
};

Result<StoredRun> load_run(const fs::path& run);

// A run belongs to its data: numbers of items, users and categories mean nothing elsewhere. Refuses another
// data set, however it is called; `folder` is where it lies, for people.
Status check_data_of_run(const StoredRun& stored, const fs::path& run, const data::Dataset& dataset,
                         const fs::path& folder);
Status check_data_of_run(const fs::path& run, const data::Dataset& dataset, const fs::path& folder);

// Where results about several runs go. Refuses a file, and a folder that is itself a run or a data set.
Status check_results_folder(const fs::path& out);

// The news model of a run with its best parameters; `dataset`, as data_of_run() gives it, has the items it
// knows at first. Runs without a news model are refused.
Result<TrainedNews> open_news_run(const fs::path& run, const data::Dataset& dataset);
// The vectors of a run without a news model; none where it has one, or nothing that a device could rank by.
Result<std::optional<TrainedFactors>> open_factors_run(const fs::path& run, const data::Dataset& dataset);

}  // namespace sotto::recipes
