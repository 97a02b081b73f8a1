#pragma once
// All that mechanisms may be built from: the ranking space of the items and simulated readers in it. The
// public average user is the mean of these readers. How much of a noisy answer a server believes is chosen by
// it as well.
//
// Immutable; the mechanisms made from it refer to it and must not outlive it.

#include <functional>

#include "eval/serving/serving_scene.h"
#include "publish/ranking_space.h"

namespace sotto::private_serving {

struct PublicKnowledge {
  RankingSpace space;
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

}  // namespace sotto::private_serving
