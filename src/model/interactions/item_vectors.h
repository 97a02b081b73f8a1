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
  double popularity = 0, again = 0;
};

// The device's side, for a history of H different items with vectors:
//
//   score_i = v_i · Σ_{j in history} v_j + popularity · √H · p_i + again · log(1 + times i is in the history)
//
// p_i: the item's share of all counts. Vectors that are held back (few users, much noise) say little about
// which of two items is liked by more people; this does. A tiny part of the count decides between equals, so
// that an empty history is ranked by counts. Items without a vector stand below all others, by their counts.
// `again` lifts what was used before; it changes nothing where items do not repeat. Copies the model;
// immutable, safe from several threads.
class VectorRanking {
 public:
  VectorRanking(const ItemVectors& model, const RankingWeights& weights);
  // history: items in any order, repeated ones count. Returns [I].
  std::vector<float> scores(std::span<const data::ItemId> history) const;

 private:
  torch::Tensor vectors_;      // [I, D], double, on the CPU
  torch::Tensor shares_;       // p [I], of the items with a vector
  std::vector<double> equal_;  // what decides between equals, at most 0
  std::vector<bool> has_vector_;
  RankingWeights weights_;
};

}  // namespace sotto::model
