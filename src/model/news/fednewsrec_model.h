#pragma once
// The model of FedNewsRec (Qi et al. 2020).
//   news: words -> dropout -> convolution(3) -> dropout -> self-attention -> ReLU -> dropout -> additive
//   pooling user: long-term  = self-attention over all clicks -> dropout -> additive pooling
//         short-term = GRU over the last clicks
//         user       = additive pooling over the two
// For comparison one of the two parts may be the whole user model.

#include <memory>

#include "model/layers/recurrent.h"
#include "model/news/news_parts.h"
#include "model/news/news_recommender.h"

namespace sotto::model {

class FedNewsRecModel final : public NewsRecommender {
 public:
  explicit FedNewsRecModel(const ModelInputs& inputs);

  torch::Tensor encode_items(std::span<const data::ItemId> items, Pass& pass) override;
  torch::Tensor encode_users(const torch::Tensor& item_vectors, const Histories& histories,
                             Pass& pass) override;
  std::int64_t vector_size() const override { return shape_.attention_size(); }
  std::string_view first_user_parameter() const override {
    return click_attention_ ? "click_attention.weight" : "recent_clicks.input";
  }

 private:
  NewsShape shape_;
  std::shared_ptr<const ItemFeatures> items_;
  torch::Tensor words_;
  std::shared_ptr<WordConvolution> convolution_;
  std::shared_ptr<SelfAttention> word_attention_;
  std::shared_ptr<AdditivePooling> word_pooling_;
  // Null where that part is left out; merge_pooling_ where there is nothing to merge.
  std::shared_ptr<SelfAttention> click_attention_;
  std::shared_ptr<AdditivePooling> click_pooling_, merge_pooling_;
  std::shared_ptr<RecentGru> recent_;
};

}  // namespace sotto::model
