#pragma once
// Items as public vectors, and how a device ranks by them. Letters: I items, D numbers per vector.

#include <span>
#include <vector>

#include "data/dataset.h"
#include "model/tensor.h"

namespace sotto {

// Items without a vector have a row of zeros.
class ItemVectors final : public torch::nn::Module {
 public:
  ItemVectors(std::int64_t items, std::int64_t size)
      : counts(register_parameter("counts", torch::zeros({items}))),
        vectors(register_parameter("vectors", torch::zeros({items, size}))) {}
  torch::Tensor counts;   // [I]
  torch::Tensor vectors;  // [I, D]
};

// The device's side:
//
//   score_i = v_i · Σ_{j in history} v_j + again · log(1 + times i is in the history) + a tiny c_i
//
// c_i: the count, so small that it decides only between equals; an empty history is ranked by counts. Items
// without a vector stand below all others, by their counts. `again` lifts what was used before; it changes
// nothing where items do not repeat. Copies the model; immutable, safe from several threads.
class VectorRanking {
 public:
  VectorRanking(const ItemVectors& model, double again);
  // history: items in any order, repeated ones count. Returns [I].
  std::vector<float> scores(std::span<const ItemId> history) const;

 private:
  torch::Tensor vectors_;           // [I, D], double, on the CPU
  std::vector<double> popularity_;  // c, at most 0
  std::vector<bool> has_vector_;
  double again_;
};

}  // namespace sotto
