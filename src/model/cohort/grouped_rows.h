#pragma once
// Every user's products at once: what weighted_rows.h does user by user on the CPU, in a few large operations
// for a card, where a launch per user costs more than its work. Each user's rows are cut into pieces as long
// as the mean user has rows, so that padding about doubles the work at most, however unequal the users are.
//
// Letters: R rows, U users.

#include "model/cohort/user_parameters.h"
#include "model/tensor.h"

namespace sotto {

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

}  // namespace sotto
