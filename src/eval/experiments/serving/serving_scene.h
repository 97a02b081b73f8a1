#pragma once
// What serving experiments look at: a trained two-tower model as vectors of items, of test readers and of
// simulated readers.

#include <functional>

#include "data/dataset.h"
#include "publish/ranking_space.h"
#include "publish/rows.h"
#include "publish/simulated_readers.h"

namespace sotto::model {
class NewsRecommender;
}

namespace sotto::eval::private_serving {

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
Result<ServingScene> scene_of(model::NewsRecommender& model, const data::Dataset& dataset,
                              std::span<const std::uint32_t> test, std::size_t max_history,
                              const SceneSettings& settings, std::uint64_t seed);
// The best parameters of a run. Refuses models without separate vectors of items and users.
Result<ServingScene> load_scene(const fs::path& run, const data::Dataset& dataset,
                                const SceneSettings& settings, std::uint64_t seed);

}  // namespace sotto::eval::private_serving

namespace sotto::eval::private_serving {

// All that mechanisms may be built from: the ranking space of the items and simulated readers in it. The
// public average user is the mean of these readers. How much of a noisy answer a server believes is chosen by
// it as well.
//
// Immutable; the mechanisms made from it refer to it and must not outlive it.
struct PublicKnowledge {
  RankingSpace space;
  Rows item_vectors;           // the catalogue as the model makes it
  Rows readers;                // [M, space.dimension()], length 1: prototypes are built from these
  Rows reader_vectors;         // the same as the model makes them
  std::vector<float> average;  // of `readers`
  // Other simulated readers, to choose parameters by: in the space, and as the model makes them.
  Rows held_out, held_out_vectors;

  static Result<PublicKnowledge> of(const ServingScene& scene);
};

// AUC that is expected of scores which correlate like this with a reader's true ones, when clicks follow the
// true scores (both normal over the items): what parameters are chosen by.
double expected_auc(double correlation);

// average + weight · (answer − average), row by row.
Rows mixed_with_average(Rows answers, std::span<const float> average, double weight);

// The weight of a fixed list with the best expected AUC when held-out simulated readers answer. With 0, when
// none is surely and by more than a twentieth of the possible gain better, the server falls back to the
// public average user.
Result<double> best_weight(const PublicKnowledge& known,
                           const std::function<Result<Rows>(const Rows& user_vectors, const Rows& readers,
                                                            std::uint64_t seed)>& answer,
                           std::uint64_t seed);

}  // namespace sotto::eval::private_serving
