#pragma once
// What every recommender is to the rest of the system: something that scores items for readers. Training and
// evaluation know nothing else about a model; those that are two towers offer more (news_recommender.h).
//
// Letters: M items, U histories, P pairs.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "model/layers/row_functions.h"
#include "model/tensor.h"

namespace sotto {

// A reader the model has never trained on. Models with user embeddings have one learned row for all of them.
inline constexpr UserId unknown_user = std::numeric_limits<UserId>::max();

// Histories of U users as row numbers into a table of item vectors, oldest click first, and whose they are.
struct Histories {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> offsets = {0};
  std::vector<UserId> users;
  void add(std::span<const std::int64_t> history, UserId user = unknown_user);
  std::size_t size() const { return users.size(); }
};

// Pairs to score: pair p is history pair_history[p] and item items[pair_item[p]]. Histories name rows of
// `items` too, so that every item is encoded once. Refers to the caller's memory.
struct ScoreRequest {
  std::span<const ItemId> items;  // [M], distinct (of each user, when users are told apart)
  const Histories& histories;
  std::span<const std::int64_t> pair_history, pair_item;  // [P]
};

// Not thread-safe. Scores are finite for every history (an empty one too) and every item (without words too).
class RankingModel : public torch::nn::Module {
 public:
  // [P], with the graph when gradients are on.
  virtual torch::Tensor scores(const ScoreRequest& request, Pass& pass) = 0;
  // About what a training pass keeps per item: for batches that must fit a memory budget.
  virtual std::int64_t bytes_per_item() const { return std::int64_t{1} << 18; }
};

// Ragged rows: clicks of histories, words of texts.
struct RaggedRows {
  torch::Tensor rows;  // [W, D]
  Segments segments;
};

// The clicks of histories as rows of a table of item vectors [M, D], a segment per history.
// An empty history reads as one blank item (a zero vector), so that a model can learn what to show to
// somebody it knows nothing about.
RaggedRows clicks_of(const torch::Tensor& item_vectors, const Histories& histories, const Pass& pass);

}  // namespace sotto
