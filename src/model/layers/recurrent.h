#pragma once
// Recurrent layers over ragged rows: all segments advance together, the longest first, so that those still
// running are always a prefix and nothing is padded. The recurrent part of a GRU is one differentiable
// function: its weights' gradients are one matrix product over all steps, which plain autograd would do step
// by step; and one per user when users are told apart.
//
// Letters: W rows, R rows in the order they are read, N segments, s = size of the state.

#include <cstdint>
#include <vector>

#include "model/cohort/user_parameters.h"
#include "model/layers/layers.h"
#include "model/tensor.h"

namespace sotto::model {

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

// Gated recurrent unit of Cho et al. 2014 (reset before the product, one bias). Reads the last `most` rows of
// every segment, oldest first; returns the last state. [W, in] -> [N, size].
class RecentGru : public torch::nn::Module {
 public:
  RecentGru(std::int64_t in, std::int64_t size, std::int64_t most, Start start = Start::glorot);
  // initial: [N, size], zeros when undefined; it is the state of an empty segment.
  torch::Tensor forward(const torch::Tensor& rows, const Segments& segments,
                        const torch::Tensor& initial = {});

 private:
  std::int64_t size_, most_;
  torch::Tensor input_, gates_, candidate_, bias_;  // [in, 3 size], [size, 2 size], [size, size], [3 size]
};

// Long short-term memory with the usual gates (input, forget, output; the forget gate's bias starts at 1).
// Returns the state after every row: [W, in] -> [W, size].
class Lstm : public torch::nn::Module {
 public:
  Lstm(std::int64_t in, std::int64_t size);
  torch::Tensor forward(const torch::Tensor& rows, const Segments& segments);

 private:
  std::int64_t size_;
  torch::Tensor input_, state_, bias_;  // [in, 4 size], [size, 4 size], [4 size]: input, forget, output, cell
};

}  // namespace sotto::model
