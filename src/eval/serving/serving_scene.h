#pragma once
// What serving experiments look at: a trained two-tower model as vectors of items, of test readers and of
// simulated readers.

#include "data/dataset.h"
#include "publish/rows.h"
#include "publish/simulated_readers.h"

namespace sotto {
class NewsRecommender;
}

namespace sotto::private_serving {

using namespace publish;  // an experiment measures what is published

struct ServingScene {
  Rows items;                              // the whole catalogue
  std::vector<std::uint32_t> impressions;  // test impressions, ascending: by reader
  Rows users;                              // true user vector at each of them
  Rows readers;                            // user vectors of simulated readers
};

struct SceneSettings {
  std::int64_t impressions = 6000;  // test impressions to look at, spread evenly
  ReaderSettings readers;
};

// Of a model as it is now. test: impressions to choose from; histories keep their newest `max_history`
// clicks.
Result<ServingScene> scene_of(NewsRecommender& model, const Dataset& dataset,
                              std::span<const std::uint32_t> test, std::size_t max_history,
                              const SceneSettings& settings, std::uint64_t seed);
// The best parameters of a run. Refuses models without separate vectors of items and users.
Result<ServingScene> load_scene(const fs::path& run, const Dataset& dataset, const SceneSettings& settings,
                                std::uint64_t seed);

}  // namespace sotto::private_serving
