#pragma once
// Batches in which every user has rows of its own: one set of large operations gives every user its own
// gradient, or lets every user compute with its own weights. Which rows are whose travels with the batch
// (RowOwners); where each user's weights and gradients are is one table with a row per user (UserParameters).
//
// Letters: U users, P parameters, R rows.

#include <cstdint>
#include <vector>

#include "model/flat_parameters.h"
#include "model/tensor.h"

namespace sotto::model {

// Gradients of U users, and their weights where these differ from the shared ones. Refers to the shared
// parameters, whose layout it follows. Not thread-safe; different users' views may be written at once.
class UserParameters {
 public:
  enum class Weights { shared, own };
  // first: where the part of the parameters begins that users train; 0: all of them.
  UserParameters(FlatParameters& shared, std::int64_t users, Weights weights, std::int64_t first = 0);

  std::int64_t users() const { return gradients_.size(0); }
  bool own() const { return values_.defined(); }
  torch::Tensor& gradients() { return gradients_; }  // [U, P - first]
  torch::Tensor& values() { return values_; }        // [U, P - first]; undefined when shared

  // Views shaped like a parameter of the model (or a view of one with the same elements).
  torch::Tensor gradient(std::int64_t user, const torch::Tensor& parameter) const;
  torch::Tensor value(std::int64_t user, const torch::Tensor& parameter) const;
  // The same of all users: [U, ...].
  torch::Tensor gradients_of(const torch::Tensor& parameter) const;
  torch::Tensor values_of(const torch::Tensor& parameter) const;

  // Whether some parameter got its gradient past this table: a layer that does not tell users apart.
  bool something_was_shared() const { return shared_.gradients().any().item<bool>(); }

 private:
  torch::Tensor view(const torch::Tensor& table, const torch::Tensor& parameter) const;

  FlatParameters& shared_;
  std::int64_t first_;
  torch::Tensor gradients_, values_;
};

// The rows of one tensor by user: user u has rows [offsets[u], offsets[u + 1]).
struct RowOwners : torch::CustomClassHolder {
  RowOwners(UserParameters& table, std::vector<std::int64_t> boundaries)
      : parameters(&table), offsets(std::move(boundaries)) {}
  UserParameters* parameters;
  std::vector<std::int64_t> offsets;  // [U + 1]
  std::int64_t users() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
};
// Null: rows are not told apart.
using Owners = c10::intrusive_ptr<RowOwners>;

// Owners of the parts of owned rows: row r becomes the parts [parts[r], parts[r + 1]).
Owners owners_of_parts(const Owners& owners, const std::vector<std::int64_t>& parts);

// What a pass over such a batch knows. Null owners in all other passes.
struct UserBatch {
  Owners items, histories;
  std::vector<std::uint64_t> dropout_seeds;  // [U]: each user's masks are those it would draw alone
};

}  // namespace sotto::model
