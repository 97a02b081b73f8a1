#pragma once
// What every news model is to the rest of the system: items become vectors, histories of item vectors become
// a user vector, and the score of an item for a user is their dot product.
//
// Letters: M items, U users, D size of a vector.

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/ragged.h"
#include "model/row_functions.h"

namespace sotto {

// The words of every item, back to back: item i is tokens [offsets[i], offsets[i+1]). Immutable.
struct ItemText {
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> offsets;
  std::size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
};

// Histories of U users as row numbers into a table of item vectors, oldest click first.
struct Histories {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> offsets = {0};
  void add(std::span<const std::int64_t> history);
  std::size_t size() const { return offsets.size() - 1; }
};

class NewsRecommender : public torch::nn::Module {
 public:
  // Vectors of the given items, in their order: [M, D]. An item without words gets the zero vector.
  virtual torch::Tensor encode_items(std::span<const std::uint32_t> items, Pass& pass) = 0;
  // User vectors [U, D]. An empty history reads as one blank item (a zero vector), so that the model can
  // learn what to show to somebody it knows nothing about.
  virtual torch::Tensor encode_users(const torch::Tensor& item_vectors, const Histories& histories,
                                     Pass& pass) = 0;
  virtual std::int64_t vector_size() const = 0;
};

}  // namespace sotto
