#pragma once
// The recurrent part of a GRU as one differentiable function. Its weights' gradients are one matrix product
// over all steps, which plain autograd would do step by step; and one per user when users are told apart.
//
// Letters: R rows in the order they are read, N segments, s = size of the state.

#include <cstdint>
#include <vector>

#include "model/tensor.h"
#include "model/user_parameters.h"

namespace sotto {

// Rows are read step by step; in step t the first running[t] segments (the longest come first) read one row
// each.
struct GruSteps {
  std::vector<std::int64_t> running;
  // Rows sorted by user, and whose they then are; empty and null when users are not told apart.
  std::vector<std::int64_t> by_user;
  Owners owners;
};

// projected: [R, 3s] = inputs times input weights plus bias (update | reset | proposal); initial: [N, s];
// gates: [s, 2s]; candidate: [s, s]. Returns the last state of every segment: [N, s].
//   z, r = sigmoid(projected + h gates);  c = tanh(projected + (r h) candidate);  h <- z h + (1 - z) c
torch::Tensor gru_states(const torch::Tensor& projected, const torch::Tensor& initial,
                         const torch::Tensor& gates, const torch::Tensor& candidate, const GruSteps& steps);

}  // namespace sotto
