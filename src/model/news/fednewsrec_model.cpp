#include "model/news/fednewsrec_model.h"

namespace sotto::model {

using torch::Tensor;

FedNewsRecModel::FedNewsRecModel(const ModelInputs& inputs)
    : shape_(inputs.shape), items_(inputs.items), words_(register_words(*this, inputs)) {
  const NewsShape& shape = shape_;
  const std::int64_t size = shape.attention_size();
  const Start start = shape.weights();
  convolution_ =
      register_module("word_convolution", std::make_shared<WordConvolution>(shape.word_size, size, start));
  word_attention_ = register_module(
      "word_attention", std::make_shared<SelfAttention>(size, shape.heads, shape.head_size, start));
  word_pooling_ =
      register_module("word_pooling", std::make_shared<AdditivePooling>(size, shape.pooling_size));
  if (shape.interests != "short") {
    click_attention_ = register_module(
        "click_attention", std::make_shared<SelfAttention>(size, shape.heads, shape.head_size, start));
    click_pooling_ =
        register_module("click_pooling", std::make_shared<AdditivePooling>(size, shape.pooling_size));
  }
  if (shape.interests != "long")
    recent_ =
        register_module("recent_clicks", std::make_shared<RecentGru>(size, size, shape.recent_clicks, start));
  if (shape.interests == "both")
    merge_pooling_ =
        register_module("merge_pooling", std::make_shared<AdditivePooling>(size, shape.pooling_size));
}

Tensor FedNewsRecModel::encode_items(std::span<const data::ItemId> items, Pass& pass) {
  const auto [words, titles] = text_rows(words_, items_->titles, items, pass);
  const Owners& owners = titles.row_owners();
  Tensor x = convolution_->forward(dropout(words, shape_.dropout, pass, owners), titles);
  x = word_attention_->forward(dropout(x, shape_.dropout, pass, owners), titles).relu();
  return word_pooling_->forward(dropout(x, shape_.dropout, pass, owners), titles);
}

Tensor FedNewsRecModel::encode_users(const Tensor& item_vectors, const Histories& histories, Pass& pass) {
  const auto [vectors, clicks] = clicks_of(item_vectors, histories, pass);
  const Owners& owners = clicks.row_owners();
  const Tensor x = dropout(vectors, shape_.dropout, pass, owners);
  if (!click_attention_) return recent_->forward(x, clicks);
  const Tensor attended = click_attention_->forward(x, clicks);
  const Tensor long_term = click_pooling_->forward(dropout(attended, shape_.dropout, pass, owners), clicks);
  if (!recent_) return long_term;
  const Tensor short_term = recent_->forward(x, clicks);

  std::vector<std::int64_t> pairs(histories.size() + 1);
  for (std::size_t u = 0; u < pairs.size(); ++u) pairs[u] = static_cast<std::int64_t>(2 * u);
  const Tensor both = torch::stack({long_term, short_term}, 1).reshape({-1, vector_size()});
  return merge_pooling_->forward(both, Segments(std::move(pairs), pass.history_owners()));
}

}  // namespace sotto::model
