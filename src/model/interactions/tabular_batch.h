#pragma once
// The data of many users as tensors for TabularModel: each user has its own copy of the parameters, and of
// every table a copy holds only the rows that its user touches. Untouched rows would have gradient zero, so
// nothing is lost, and a copy of a model with thousands of items costs as much as the items of one user.
//
// Letters: U copies (users), B rows of a step (padded with weight 0), K values of a feature, R rows of a
// copy's table (padded with rows nobody reads), L items of a history.

#include <vector>

#include "model/interactions/tabular_inputs.h"
#include "model/tensor.h"

namespace sotto::model {

struct TabularExample {
  std::uint64_t row = 0;  // of the interactions: whose situation it is
  data::ItemId item = 0;
  float label = 0, weight = 1;
};

// One user's part of a round: what its device remembers, and the examples of each local step.
struct TabularTask {
  data::UserId user = 0;
  std::vector<data::ItemId> history;  // repeats count
  std::vector<std::vector<TabularExample>> steps;
};

struct TabularBatch {
  struct Field {
    torch::Tensor codes, weights;  // [U, B, K]: rows of the copies' tables; 1/k of k values, 0: padding
  };
  std::vector<Field> fields;               // in the order of TabularInputs
  torch::Tensor numbers;                   // [U, B, N]
  torch::Tensor history, history_weights;  // [U, L]
  torch::Tensor items;                     // [U, B]
  torch::Tensor labels, weights;           // [U, B]
  torch::Tensor active;                    // [U]: 0 where a user has no example in this step
};

struct TabularChunk {
  // By key space (a field each, then items remembered, then items scored): rows of the whole table, [U, R].
  // Empty when copies hold whole tables.
  std::vector<torch::Tensor> touched;
  std::vector<TabularBatch> steps;
  std::int64_t users = 0;
};

// How many numbers TabularModel reads beside codes.
std::int64_t tabular_numbers(InputChoice choice);

// Steps that a user does not have are inactive for it.
TabularChunk make_chunk(const TabularInputs& inputs, std::span<const TabularTask> tasks,
                        torch::Device device);

// All items of the catalogue for one user in one situation (a row of the interactions), for a copy with whole
// tables: U = 1, B = items.
TabularBatch catalogue_batch(const TabularInputs& inputs, data::UserId user, std::uint64_t row,
                             std::span<const data::ItemId> history, torch::Device device);

}  // namespace sotto::model
