#pragma once
// Ragged rows as a padded tensor and back, without a loop over segments: what plain tensor operations need on
// CUDA, and in the tests' references.
//
// Letters: W rows, N segments, L rows of the longest, D columns.

#include "model/layers/ragged.h"
#include "model/tensor.h"

namespace sotto {

struct Padding {
  std::int64_t segments, longest;
  torch::Tensor rows;    // [N L] the row at each place; any row where there is none
  torch::Tensor blank;   // [N, L] true where there is none
  torch::Tensor places;  // [W] the place of each row
};

// Segments that have a row.
Padding padding_of(const Segments& segments, torch::Device device);

// [W, D] -> [N, L, D]. Blank places hold anything, and the gradient that arrives there is dropped: mask them.
torch::Tensor pad(const torch::Tensor& rows, const Padding& padding);
// [N, L, D] -> [W, D].
torch::Tensor unpad(const torch::Tensor& padded, const Padding& padding);

}  // namespace sotto
