#pragma once
// Items as public vectors, and how a device ranks by them. Letters: I items, D numbers per vector.

#include <span>
#include <vector>

#include "data/dataset.h"
#include "model/tensor.h"

namespace sotto::model {

// Items without a vector have a row of zeros.
class ItemVectors final : public torch::nn::Module {
 public:
  ItemVectors(std::int64_t items, std::int64_t size)
      : counts(register_parameter("counts", torch::zeros({items}))),
        vectors(register_parameter("vectors", torch::zeros({items, size}))) {}
  torch::Tensor counts;   // [I]
  torch::Tensor vectors;  // [I, D]
};

struct RankingWeights {
  double popularity = 0, again = 0, low = 0, rare = 0;
};

// The device's side. Of items with vectors, with p the counts per user (none below 0), q = the largest of
// them, and x_j = 1 for what it likes and `low` for what it only knows:
//
//   z_j     ∝ x_j · max(p_j / q, 1/100)^−rare,   ‖z‖ = 1
//   score_i = v_i · Σ_j z_j v_j + popularity · p_i + again · log(1 + times i was liked)
//
// What few people like says more of who does: `rare` weighs it more. Vectors are of tastes from which a part
// of the counts was taken out (local/item_sums.h): `popularity` brings them back. A tiny part of the count
// decides between equals, so that a reader of whom nothing is known is ranked by counts. Items without a
// vector stand below all others, by their counts. `again` lifts what was used before; it changes nothing
// where items do not repeat. Copies the model; immutable, safe from several threads.
class VectorRanking {
 public:
  VectorRanking(const ItemVectors& model, const RankingWeights& weights);
  // liked, known: items in any order; liked ones that repeat count as repeated. Returns [I].
  std::vector<float> scores(std::span<const data::ItemId> liked,
                            std::span<const data::ItemId> known = {}) const;

 private:
  torch::Tensor vectors_;             // [I, D], double, on the CPU
  std::vector<double> popularities_;  // p [I], of the items with a vector
  std::vector<double> says_;          // max(p_j / q, 1/100)^−rare; 0: no vector
  std::vector<double> equal_;         // what decides between equals, at most 0
  RankingWeights weights_;
};

// p, and by how much an item's weight in a history is more than that of the most counted one: of [I] counts
// and which items have vectors.
struct CountedItems {
  std::vector<double> popularity, says;
};
CountedItems counted_items(const ItemVectors& model, double rare);

}  // namespace sotto::model
