#pragma once
// A two-tower model: items become vectors, histories of item vectors become a user vector, and the score of
// an item for a user is their dot product. Items can be encoded once for everybody.
//
// Letters: M items, U users, D size of a vector.

#include "model/news/ranking_model.h"

namespace sotto::model {

// How much of a pass keeps its graph: the first `kept` of what it is about (items, clicks). The rest is
// computed once more in the backward pass, about `part` at a time.
struct KeptGraph {
  std::size_t kept = 0, part = 0;
};

class NewsRecommender : public RankingModel {
 public:
  // Vectors of the given items, in their order: [M, D]. An item without any feature gets the zero vector.
  virtual torch::Tensor encode_items(std::span<const data::ItemId> items, Pass& pass) = 0;
  // User vectors [U, D]. An empty history reads as one blank item: clicks_of().
  virtual torch::Tensor encode_users(const torch::Tensor& item_vectors, const Histories& histories,
                                     Pass& pass) = 0;
  virtual std::int64_t vector_size() const = 0;
  // Name of the first parameter of the user encoder: it and all registered behind it are the user encoder's.
  // Empty: the towers share something, or a vector of every user's own.
  virtual std::string_view first_user_parameter() const { return {}; }

  torch::Tensor scores(const ScoreRequest& request, Pass& pass) final;
  std::int64_t bytes_per_item() const override;
  // Whether encode_items() keeps to a memory bound by itself.
  virtual bool bounds_its_memory() const { return false; }
  // encode_items() and encode_users() that keep part of their graph only; `clicks` counts clicks and cuts
  // between histories. The same gradients, but other dropout masks.
  torch::Tensor encode_items_in_parts(std::span<const data::ItemId> items, Pass& pass,
                                      const KeptGraph& graph);
  torch::Tensor encode_users_in_parts(const torch::Tensor& item_vectors, const Histories& histories,
                                      Pass& pass, const KeptGraph& clicks);

 private:
  // What may learn in a part that is computed again.
  std::vector<torch::Tensor> trained() const;
};

// Dot products of rows a[rows_a[p]] and b[rows_b[p]]: [P].
torch::Tensor dot_pairs(const torch::Tensor& a, std::span<const std::int64_t> rows_a, const torch::Tensor& b,
                        std::span<const std::int64_t> rows_b);

}  // namespace sotto::model
