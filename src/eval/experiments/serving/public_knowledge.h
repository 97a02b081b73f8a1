#pragma once
// All that mechanisms may be built from: the ranking space of the items and simulated readers in it. The
// public average user is the mean of these readers.
//
// Immutable; the mechanisms made from it refer to it and must not outlive it.

#include "eval/experiments/serving/serving_scene.h"
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

}  // namespace sotto::private_serving
