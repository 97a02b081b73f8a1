#pragma once
// FedNewsRec as one writes it first in libtorch: titles padded to their limit, histories to theirs, masks,
// conv1d, attention by batched products of 4-d tensors, a GRU step by step. The baseline of `sotto bench
// step` and `cohort`, and an independent statement of the model: same weights, same scores.

#include <memory>

#include "model/news/news_shape.h"
#include "model/news/ranking_model.h"

namespace sotto::bench {

// Shares the parameters of a FedNewsRecModel built from the same inputs. Without dropout, which the tuned
// model and this one would draw differently.
class PaddedFedNewsRec final : public model::RankingModel {
 public:
  PaddedFedNewsRec(const model::ModelInputs& inputs, const torch::nn::Module& weights,
                   std::int64_t title_words, std::int64_t history_clicks);
  torch::Tensor scores(const model::ScoreRequest& request, model::Pass& pass) override;

 private:
  torch::Tensor weight(const char* name) const { return weights_[name]; }
  torch::Tensor encode_titles(std::span<const data::ItemId> items) const;
  torch::Tensor encode_histories(const torch::Tensor& items, const model::Histories& histories) const;
  torch::Tensor attention(const torch::Tensor& x, const torch::Tensor& mask, const char* name) const;
  torch::Tensor pooling(const torch::Tensor& x, const torch::Tensor& mask, const std::string& name) const;
  torch::Tensor recent(const torch::Tensor& x, const torch::Tensor& mask) const;

  model::NewsShape shape_;
  std::shared_ptr<const model::ItemFeatures> items_;
  torch::OrderedDict<std::string, torch::Tensor> weights_;
  std::int64_t title_words_, history_clicks_;
};

}  // namespace sotto::bench
