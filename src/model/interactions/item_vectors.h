#pragma once
// Items as public vectors, by which devices rank (local/vector_ranking.h). Letters: I items, D numbers per
// vector.

#include <cstdint>

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

}  // namespace sotto::model
