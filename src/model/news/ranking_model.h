#pragma once
// What every recommender is to the rest of the system: something that scores items for readers. Training and
// evaluation know nothing else about a model; those that are two towers offer more (news_recommender.h).
//
// Letters: M items, U histories, P pairs.

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "data/dataset.h"
#include "model/layers/row_functions.h"
#include "model/tensor.h"

namespace sotto::model {

// A reader the model has never trained on. Models with user embeddings have one learned row for all of them.
inline constexpr data::UserId unknown_user = std::numeric_limits<data::UserId>::max();

// Histories of U users as row numbers into a table of item vectors, oldest click first, and whose they are.
struct Histories {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> offsets = {0};
  std::vector<data::UserId> users;
  void add(std::span<const std::int64_t> history, data::UserId user = unknown_user);
  std::size_t size() const { return users.size(); }
};

// Pairs to score: pair p is history pair_history[p] and item items[pair_item[p]]. Histories name rows of
// `items` too, so that every item is encoded once. Refers to the caller's memory.
struct ScoreRequest {
  std::span<const data::ItemId> items;  // [M], distinct (of each user, when users are told apart)
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

// The click samples of many users as one batch: every distinct item is encoded once, every distinct history
// once, and one backward pass serves all users together ("many users, one GEMM"). Where every user's own
// gradient is wanted, begin_user() keeps their items and histories apart.
//
// Letters: S samples, K non-clicked items per sample, M distinct items, U distinct histories.
class RankingBatch {
 public:
  // candidates per sample: 1 + K, the click first. Histories keep their last `max_history` clicks.
  RankingBatch(std::size_t candidates, std::size_t max_history);

  // history must stay valid until the batch is used; equal spans (same memory) of a user are encoded once.
  void add(std::span<const data::ItemId> history, std::span<const data::ItemId> candidates, float weight = 1,
           data::UserId user = unknown_user);

  // Samples added from here on belong to a next user, who shares no row with those before. Either every
  // sample follows a begin_user(), or none does. The seed is of the user's dropout masks.
  void begin_user(std::uint64_t dropout_seed);
  // Who owns what, for the pass of a batch with begin_user().
  UserBatch users(UserParameters& parameters) const;
  // sum over each user's samples of `losses` [S].
  std::vector<double> by_user(const torch::Tensor& losses) const;
  std::vector<std::uint64_t> samples_by_user() const;

  std::size_t samples() const { return weights_.size(); }
  const std::vector<data::ItemId>& items() const { return items_; }
  const Histories& histories() const { return histories_; }

  // What the model is asked for. Refers to the batch.
  ScoreRequest request() const { return {items_, histories_, pair_history_, pair_item_}; }
  // The losses of scores [P] that were found for request(): [S].
  torch::Tensor losses_of(const torch::Tensor& scores) const;
  // weight * -log softmax(scores)[click] of every sample: [S] with its graph.
  torch::Tensor losses(RankingModel& model, Pass& pass) const;
  // Their sum.
  torch::Tensor loss(RankingModel& model, Pass& pass) const { return losses(model, pass).sum(); }

 private:
  struct KnownHistory {
    std::size_t length;
    data::UserId user;
    std::int64_t number;
  };
  std::int64_t row_of(data::ItemId item);
  std::int64_t history_number(std::span<const data::ItemId> recent, data::UserId user);

  std::size_t candidates_, max_history_;
  std::vector<data::ItemId> items_;
  std::vector<std::int64_t> row_by_item_;  // of the current user, or of all
  Histories histories_;
  std::unordered_map<const data::ItemId*, std::vector<KnownHistory>> known_histories_;  // by their end
  std::vector<std::int64_t> pair_history_, pair_item_;                                  // [S (1 + K)]
  std::vector<float> weights_;
  // Where each user's items, histories and samples begin.
  std::vector<std::int64_t> item_starts_, history_starts_, sample_starts_;
  std::vector<std::uint64_t> dropout_seeds_;
};

}  // namespace sotto::model
