#pragma once
// The model of FedNewsRec (Qi et al. 2020).
//   news: words -> dropout -> convolution(3) -> dropout -> self-attention -> ReLU -> dropout -> additive
//   pooling user: long-term  = self-attention over all clicks -> dropout -> additive pooling
//         short-term = GRU over the last clicks
//         user       = additive pooling over the two

#include <memory>

#include "base/settings.h"
#include "model/layers.h"
#include "model/news_recommender.h"

namespace sotto {

// Defaults are the paper's.
struct FedNewsRecShape {
  std::int64_t word_size = 300, heads = 20, head_size = 20, pooling_size = 200, recent_clicks = 20;
  double dropout = 0.2;
  bool train_words = false;
  std::string start = "glorot";
  void bind(SettingsTable& table);
  std::int64_t vector_size() const { return heads * head_size; }
};

class FedNewsRecModel final : public NewsRecommender {
 public:
  // words: [vocabulary, word_size], row 0 (padding) unused. Shares `text`.
  FedNewsRecModel(const FedNewsRecShape& shape, torch::Tensor words, std::shared_ptr<const ItemText> text);

  torch::Tensor encode_items(std::span<const std::uint32_t> items, Pass& pass) override;
  torch::Tensor encode_users(const torch::Tensor& item_vectors, const Histories& histories,
                             Pass& pass) override;
  std::int64_t vector_size() const override { return shape_.vector_size(); }

 private:
  FedNewsRecShape shape_;
  std::shared_ptr<const ItemText> text_;
  torch::Tensor words_;
  std::shared_ptr<WordConvolution> convolution_;
  std::shared_ptr<SelfAttention> word_attention_, click_attention_;
  std::shared_ptr<AdditivePooling> word_pooling_, click_pooling_, merge_pooling_;
  std::shared_ptr<RecentGru> recent_;
};

}  // namespace sotto
