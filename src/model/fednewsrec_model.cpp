#include "model/fednewsrec_model.h"

namespace sotto {

using torch::Tensor;

void Histories::add(std::span<const std::int64_t> history) {
  rows.insert(rows.end(), history.begin(), history.end());
  offsets.push_back(static_cast<std::int64_t>(rows.size()));
}

void FedNewsRecShape::bind(SettingsTable& table) {
  table.add("word_size", word_size, {1, 4096}, "Size of a word vector")
      .add("heads", heads, {1, 256}, "Attention heads of the news and user models")
      .add("head_size", head_size, {1, 512},
           "Size of one head; heads x head_size is the size of a news vector")
      .add("pooling_size", pooling_size, {1, 4096}, "Hidden size of additive attention pooling")
      .add("recent_clicks", recent_clicks, {1, 1000}, "Clicks read by the short-term user model")
      .add("dropout", dropout, {0.0, 0.95}, "Dropout rate before each layer")
      .add("train_words", train_words, "Train the word vectors too")
      .add_choice("start", start, {"glorot", "identity"},
                  "Weights before training: as in the papers, or near maps that keep similarity");
}

FedNewsRecModel::FedNewsRecModel(const FedNewsRecShape& shape, Tensor words,
                                 std::shared_ptr<const ItemText> text)
    : shape_(shape), text_(std::move(text)) {
  TORCH_CHECK(words.dim() == 2 && words.size(1) == shape.word_size,
              "word vectors must be [vocabulary, word_size]");
  const std::int64_t size = shape.vector_size();
  const Start start = shape.start == "identity" ? Start::identity : Start::glorot;
  words_ = register_parameter("words", std::move(words), shape.train_words);
  convolution_ =
      register_module("word_convolution", std::make_shared<WordConvolution>(shape.word_size, size, start));
  word_attention_ = register_module(
      "word_attention", std::make_shared<SelfAttention>(size, shape.heads, shape.head_size, start));
  word_pooling_ =
      register_module("word_pooling", std::make_shared<AdditivePooling>(size, shape.pooling_size));
  click_attention_ = register_module(
      "click_attention", std::make_shared<SelfAttention>(size, shape.heads, shape.head_size, start));
  click_pooling_ =
      register_module("click_pooling", std::make_shared<AdditivePooling>(size, shape.pooling_size));
  recent_ =
      register_module("recent_clicks", std::make_shared<RecentGru>(size, size, shape.recent_clicks, start));
  merge_pooling_ =
      register_module("merge_pooling", std::make_shared<AdditivePooling>(size, shape.pooling_size));
}

Tensor FedNewsRecModel::encode_items(std::span<const std::uint32_t> items, Pass& pass) {
  std::vector<std::int64_t> tokens, offsets = {0};
  for (const std::uint32_t item : items) {
    tokens.insert(tokens.end(), text_->tokens.begin() + text_->offsets[item],
                  text_->tokens.begin() + text_->offsets[item + 1]);
    offsets.push_back(static_cast<std::int64_t>(tokens.size()));
  }
  const Segments titles(std::move(offsets));
  Tensor x = gather_rows(words_, std::move(tokens));
  x = convolution_->forward(dropout(x, shape_.dropout, pass), titles);
  x = word_attention_->forward(dropout(x, shape_.dropout, pass), titles).relu();
  return word_pooling_->forward(dropout(x, shape_.dropout, pass), titles);
}

Tensor FedNewsRecModel::encode_users(const Tensor& item_vectors, const Histories& histories, Pass& pass) {
  // Row M of the table is the blank item of empty histories.
  const std::int64_t blank = item_vectors.size(0);
  const Tensor table =
      torch::cat({item_vectors, torch::zeros({1, item_vectors.size(1)}, item_vectors.options())});
  std::vector<std::int64_t> rows, offsets = {0};
  for (std::size_t u = 0; u < histories.size(); ++u) {
    rows.insert(rows.end(), histories.rows.begin() + histories.offsets[u],
                histories.rows.begin() + histories.offsets[u + 1]);
    if (histories.offsets[u] == histories.offsets[u + 1]) rows.push_back(blank);
    offsets.push_back(static_cast<std::int64_t>(rows.size()));
  }
  const Segments clicks(std::move(offsets));
  const Tensor x = dropout(gather_rows(table, std::move(rows)), shape_.dropout, pass);
  const Tensor long_term =
      click_pooling_->forward(dropout(click_attention_->forward(x, clicks), shape_.dropout, pass), clicks);
  const Tensor short_term = recent_->forward(x, clicks);

  std::vector<std::int64_t> pairs(histories.size() + 1);
  for (std::size_t u = 0; u < pairs.size(); ++u) pairs[u] = static_cast<std::int64_t>(2 * u);
  const Tensor both = torch::stack({long_term, short_term}, 1).reshape({-1, shape_.vector_size()});
  return merge_pooling_->forward(both, Segments(std::move(pairs)));
}

}  // namespace sotto
