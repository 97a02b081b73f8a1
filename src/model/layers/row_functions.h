#pragma once
// Differentiable row operations beside ragged.h: word windows and reproducible dropout.

#include <cstdint>
#include <vector>

#include "model/cohort/user_parameters.h"
#include "model/layers/ragged.h"
#include "model/tensor.h"

namespace sotto::model {

// One forward pass: whether dropout is active, and the stream its masks come from. Every dropout layer takes
// the next seed, so a pass is a pure function of (parameters, inputs, seed).
struct Pass {
  bool training = false;
  std::uint64_t seed = 0;
  const UserBatch* users = nullptr;  // set when users are told apart
  std::uint64_t next_seed();
  // The seeds that passes of single users would draw now.
  std::vector<std::uint64_t> next_seeds();
  Owners item_owners() const { return users ? users->items : Owners(); }
  Owners history_owners() const { return users ? users->histories : Owners(); }
  static Pass evaluation() { return {}; }
  static Pass train(std::uint64_t run_seed, std::uint32_t round, std::uint32_t user = 0);
};

// table[rows]: [M, D] and W row numbers -> [W, D]. Torch's own index_select adds gradients row by row through
// a whole operator call each, which dominates a training step on the CPU.
torch::Tensor gather_rows(const torch::Tensor& table, std::vector<std::int64_t> rows);

// [W, D] -> [W, 3D]: each row between its neighbours of the same segment, zeros beyond the ends.
torch::Tensor word_windows(const torch::Tensor& rows, const Segments& segments);
// The same by plain operations: the CUDA path, and what the tests compare with.
torch::Tensor shifted_word_windows(const torch::Tensor& rows, const Segments& segments);

// Inverted dropout in training, identity otherwise. With owners, on the CPU, every user's rows get the mask
// that the user would draw alone.
torch::Tensor dropout(const torch::Tensor& x, double rate, Pass& pass, const Owners& owners = {});

}  // namespace sotto::model
