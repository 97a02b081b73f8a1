#pragma once
// The operations through which rows meet weights. Without owners they are plain matrix products. With owners
// (user_parameters.h) each user's rows meet that user's weights, and the gradients of the weights are kept
// apart: one matrix product per user over the rows it owns, written into its row of the table. Rows may come
// in 16 bits (precision.h); such gradients are computed in the weights' own precision.
//
// Letters: R rows, U users.

#include <cstdint>
#include <vector>

#include "model/cohort/user_parameters.h"
#include "model/tensor.h"

namespace sotto {

// rows W: [R, in] -> [R, out].
torch::Tensor product(const torch::Tensor& rows, const torch::Tensor& weight, const Owners& owners);
// rows Wᵀ: [R, out] -> [R, in].
torch::Tensor product_transposed(const torch::Tensor& rows, const torch::Tensor& weight,
                                 const Owners& owners);
// rows W + b.
torch::Tensor affine(const torch::Tensor& rows, const torch::Tensor& weight, const torch::Tensor& bias,
                     const Owners& owners);
// rows q: [R, in] -> [R].
torch::Tensor projection(const torch::Tensor& rows, const torch::Tensor& query, const Owners& owners);

// table[rows] of a table that may be trained: [R, columns]. The gradient touches only the rows that were
// read.
torch::Tensor lookup(const torch::Tensor& table, std::vector<std::int64_t> rows, const Owners& owners);

// For functions with a backward pass of their own. Each user's gradient of `weight` grows by xᵀ dy over its
// rows.
void add_weight_gradients(const RowOwners& owners, const torch::Tensor& weight, const torch::Tensor& x,
                          const torch::Tensor& dy);
// x W, or x Wᵀ, with each user's own weights.
torch::Tensor own_product(const RowOwners& owners, const torch::Tensor& x, const torch::Tensor& weight,
                          bool transposed);

}  // namespace sotto
