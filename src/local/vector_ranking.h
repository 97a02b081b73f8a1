#pragma once
// How a device ranks by public item vectors. Letters: I items, D numbers per vector.

#include <span>
#include <vector>

#include "local/interaction_steps.h"
#include "local/tape/tape.h"

namespace sotto::local {

struct RankingWeights {
  double popularity = 0, again = 0;
};

// For a history of H different items with vectors:
//
//   score_i = v_i · Σ_{j in history} v_j + popularity · √H · p_i + again · log(1 + times i is in the history)
//
// p_i: the item's share of all counts. Vectors that are held back (few users, much noise) say little about
// which of two items is liked by more people; this does. A tiny part of the count decides between equals, so
// that an empty history is ranked by counts. Items without a vector (a row of zeros) stand below all others,
// by their counts. `again` lifts what was used before; it changes nothing where items do not repeat. Copies
// what it is given; immutable, safe from several threads.
class VectorRanking {
 public:
  // counts: [I], vectors: [I, D], row by row.
  VectorRanking(std::span<const float> counts, std::span<const float> vectors, const RankingWeights& weights);
  // history: items in any order, repeated ones count. Returns [I].
  std::vector<float> scores(std::span<const ItemRow> history) const;

 private:
  Matrix<double> vectors_;
  Eigen::VectorXd shares_;     // p, of the items with a vector
  std::vector<double> equal_;  // what decides between equals, at most 0
  std::vector<bool> has_vector_;
  RankingWeights weights_;
};

}  // namespace sotto::local
