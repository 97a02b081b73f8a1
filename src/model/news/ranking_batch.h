#pragma once
// The click samples of many users as one batch: every distinct item is encoded once, every distinct history
// once, and one backward pass serves all users together ("many users, one GEMM"). Where every user's own
// gradient is wanted, begin_user() keeps their items and histories apart.
//
// Letters: S samples, K non-clicked items per sample, M distinct items, U distinct histories.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "data/dataset.h"
#include "model/news/ranking_model.h"
#include "model/tensor.h"

namespace sotto {

class RankingBatch {
 public:
  // candidates per sample: 1 + K, the click first. Histories keep their last `max_history` clicks.
  RankingBatch(std::size_t candidates, std::size_t max_history);

  // history must stay valid until the batch is used; equal spans (same memory) of a user are encoded once.
  void add(std::span<const ItemId> history, std::span<const ItemId> candidates, float weight = 1,
           UserId user = unknown_user);

  // Samples added from here on belong to a next user, who shares no row with those before. Either every
  // sample follows a begin_user(), or none does. The seed is of the user's dropout masks.
  void begin_user(std::uint64_t dropout_seed);
  // Who owns what, for the pass of a batch with begin_user().
  UserBatch users(UserParameters& parameters) const;
  // sum over each user's samples of `losses` [S].
  std::vector<double> by_user(const torch::Tensor& losses) const;
  std::vector<std::uint64_t> samples_by_user() const;

  std::size_t samples() const { return weights_.size(); }
  const std::vector<ItemId>& items() const { return items_; }
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
    UserId user;
    std::int64_t number;
  };
  std::int64_t row_of(ItemId item);
  std::int64_t history_number(std::span<const ItemId> recent, UserId user);

  std::size_t candidates_, max_history_;
  std::vector<ItemId> items_;
  std::vector<std::int64_t> row_by_item_;  // of the current user, or of all
  Histories histories_;
  std::unordered_map<const ItemId*, std::vector<KnownHistory>> known_histories_;  // by their end
  std::vector<std::int64_t> pair_history_, pair_item_;                            // [S (1 + K)]
  std::vector<float> weights_;
  // Where each user's items, histories and samples begin.
  std::vector<std::int64_t> item_starts_, history_starts_, sample_starts_;
  std::vector<std::uint64_t> dropout_seeds_;
};

}  // namespace sotto
