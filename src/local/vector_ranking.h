#pragma once
// How a device ranks by public item vectors. Letters: I items, D numbers per vector.

#include <span>
#include <vector>

#include "local/interaction_steps.h"
#include "local/tape/tape.h"

namespace sotto::local {

struct RankingWeights {
  double popularity = 0, again = 0, low = 0, rare = 0;
};

// Of items with vectors, with p the counts per user (none below 0), q = the largest of them, and x_j = 1 for
// what the reader likes and `low` for what it only knows:
//
//   z_j     ∝ x_j · max(p_j / q, 1/100)^−rare,   ‖z‖ = 1
//   score_i = v_i · Σ_j z_j v_j + popularity · p_i + again · log(1 + times i was liked)
//
// What few people like says more of who does: `rare` weighs it more. Vectors are of tastes from which a part
// of the counts was taken out (item_sums.h): `popularity` brings them back. A tiny part of the count decides
// between equals, so that a reader of whom nothing is known is ranked by counts. Items without a vector (a
// row of zeros) stand below all others, by their counts. `again` lifts what was used before; it changes
// nothing where items do not repeat. Copies what it is given; immutable, safe from several threads.
class VectorRanking {
 public:
  // counts: [I], vectors: [I, D], row by row.
  VectorRanking(std::span<const float> counts, std::span<const float> vectors, const RankingWeights& weights);
  // liked, known: items in any order; liked ones that repeat count as repeated. Returns [I].
  std::vector<float> scores(std::span<const ItemRow> liked, std::span<const ItemRow> known = {}) const;

 private:
  Matrix<double> vectors_;
  std::vector<double> popularities_;  // p [I], of the items with a vector
  std::vector<double> says_;          // max(p_j / q, 1/100)^−rare; 0: no vector
  std::vector<double> equal_;         // what decides between equals, at most 0
  RankingWeights weights_;
};

// p, and by how much an item's weight in a history is more than that of the most counted one; both 0 for
// items without a vector.
struct CountedItems {
  std::vector<double> popularity, says;
};
CountedItems counted_items(std::span<const float> counts, std::span<const float> vectors, double rare);

}  // namespace sotto::local
