#pragma once
// The operations through which rows meet weights. Without owners they are plain matrix products. With owners
// (user_parameters.h) each user's rows meet that user's weights, and the gradients of the weights are kept
// apart: one matrix product per user over the rows it owns, written into its row of the table. Rows may come
// in 16 bits (recompute.h); such gradients are computed in the weights' own precision.
//
// Letters: R rows, U users.

#include <cstdint>
#include <vector>

#include "model/cohort/user_parameters.h"
#include "model/tensor.h"

namespace sotto::model {

// Every user's products at once: what weighted_rows.h does user by user on the CPU, in a few large operations
// for a card, where a launch per user costs more than its work. Each user's rows are cut into pieces as long
// as the mean user has rows, so that padding about doubles the work at most, however unequal the users are.
//
// Letters: R rows, U users.

// The user that owns each row: [R].
torch::Tensor owner_of_rows(const RowOwners& owners, torch::Device device);

// Over its rows, each user's gradient of `weight` grows by xᵀ dy, of `bias` by the sum of dy.
void add_grouped_weight_gradients(const RowOwners& owners, const torch::Tensor& weight,
                                  const torch::Tensor& x, const torch::Tensor& dy);
void add_grouped_sums(const RowOwners& owners, const torch::Tensor& bias, const torch::Tensor& dy);
// Each user's gradient of the rows of `table` that it read grows by dy.
void add_grouped_row_gradients(const RowOwners& owners, const torch::Tensor& table, const torch::Tensor& rows,
                               const torch::Tensor& dy);

// x W, or x Wᵀ, with each user's own weights.
torch::Tensor grouped_product(const RowOwners& owners, const torch::Tensor& x, const torch::Tensor& weight,
                              bool transposed);

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

}  // namespace sotto::model
