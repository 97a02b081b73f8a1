#pragma once
// secagg::UpdateEncoder::round() for many updates at once, by tensor operations where the updates are: what
// sums=law does on a card. The same formulas in the same order but for the order in which norms are added;
// the bound on the norm after rounding is compared in whole numbers here too.
//
// Letters: R updates, d coordinates, e entries of the plan.

#include "model/tensor.h"
#include "secagg/vectors/update_encoding.h"

namespace sotto::fl {

// Not thread-safe.
class TensorEncoder {
 public:
  TensorEncoder(secagg::EncodingPlan plan, torch::Device device);

  // How many updates fit so much memory together, at least one.
  std::int64_t rows_within(std::size_t bytes) const;
  // Adds the whole numbers of the updates [R, d] in units of `bound` to sum [e], int64. key: of the device's
  // generator, which draws the rounding. Refuses NaN and infinity.
  Status add(const torch::Tensor& updates, double bound, std::uint64_t key, torch::Tensor& sum) const;

 private:
  Result<torch::Tensor> on_the_grid(const torch::Tensor& updates) const;                 // [R, e] double
  torch::Tensor rounded(const torch::Tensor& values, const at::Generator& draws) const;  // [R, e] int64
  torch::Tensor too_long(const torch::Tensor& whole) const;                              // [R] bool
  torch::Tensor limited(const torch::Tensor& values) const;                              // to int64
  torch::Tensor drawn(const torch::Tensor& values, at::Generator draws) const;
  void rotate(torch::Tensor& values) const;  // [R, e], in place

  secagg::EncodingPlan plan_;
  torch::Device device_;
  torch::Tensor first_signs_, last_signs_;  // of the rotation, over √block
};

}  // namespace sotto::fl
