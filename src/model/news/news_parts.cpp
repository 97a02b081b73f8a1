#include "model/news/news_parts.h"

#include <algorithm>

#include "model/cohort/weighted_rows.h"

namespace sotto::model {

using torch::Tensor;

Tensor register_words(torch::nn::Module& module, const ModelInputs& inputs) {
  TORCH_CHECK(inputs.words.dim() == 2 && inputs.words.size(1) == inputs.shape.word_size,
              "word vectors must be [vocabulary, word_size]");
  return module.register_parameter("words", inputs.words, inputs.shape.train_words);
}

RaggedRows text_rows(const Tensor& vectors, const ItemText& text, std::span<const data::ItemId> items,
                     const Pass& pass) {
  std::vector<std::int64_t> tokens, offsets = {0};
  for (const data::ItemId item : items) {
    const auto own = text.of(item);
    tokens.insert(tokens.end(), own.begin(), own.end());
    offsets.push_back(static_cast<std::int64_t>(tokens.size()));
  }
  Segments segments(std::move(offsets), pass.item_owners());
  Tensor rows = lookup(vectors, std::move(tokens), segments.row_owners());
  return {std::move(rows), std::move(segments)};
}

TextCnn::TextCnn(const NewsShape& shape)
    : dropout_(shape.dropout),
      convolution_(register_module(
          "convolution", std::make_shared<WordConvolution>(shape.word_size, shape.filters, shape.weights()))),
      pooling_(
          register_module("pooling", std::make_shared<AdditivePooling>(shape.filters, shape.pooling_size))) {}

Tensor TextCnn::forward(const RaggedRows& text, Pass& pass) {
  const Tensor x =
      convolution_->forward(dropout(text.rows, dropout_, pass, text.segments.row_owners()), text.segments);
  return pooling_->forward(dropout(x, dropout_, pass, text.segments.row_owners()), text.segments);
}

AttentionEncoder::AttentionEncoder(const NewsShape& shape, std::int64_t in)
    : dropout_(shape.dropout),
      attention_(register_module(
          "attention", std::make_shared<SelfAttention>(in, shape.heads, shape.head_size, shape.weights()))),
      pooling_(register_module(
          "pooling", std::make_shared<AdditivePooling>(shape.attention_size(), shape.pooling_size))) {}

Tensor AttentionEncoder::forward(const Tensor& rows, const Segments& segments, Pass& pass) {
  const Tensor x = attention_->forward(dropout(rows, dropout_, pass, segments.row_owners()), segments);
  return pooling_->forward(dropout(x, dropout_, pass, segments.row_owners()), segments);
}

namespace {

// Row of a code's vector; code 0 has none.
Tensor code_vectors(const Tensor& table, const std::vector<std::int32_t>& codes,
                    std::span<const data::ItemId> items, const Pass& pass) {
  std::vector<std::int32_t> rows;
  rows.reserve(items.size());
  for (const data::ItemId item : items) rows.push_back(codes.at(item) - 1);
  return rows_or_zero(table, rows, pass.item_owners());
}

}  // namespace

CategoryVectors::CategoryVectors(std::shared_ptr<const ItemFeatures> items, std::int64_t size)
    : items_(std::move(items)) {
  // At least one row, so that data without categories has a well-formed table that nothing reads.
  const auto rows = [](std::int64_t codes) { return std::max<std::int64_t>(codes - 1, 1); };
  categories_ = register_parameter("categories", embedding_uniform(rows(items_->category_count), size));
  subcategories_ =
      register_parameter("subcategories", embedding_uniform(rows(items_->subcategory_count), size));
}

Tensor CategoryVectors::categories(std::span<const data::ItemId> items, const Pass& pass) {
  return code_vectors(categories_, items_->categories, items, pass);
}

Tensor CategoryVectors::subcategories(std::span<const data::ItemId> items, const Pass& pass) {
  return code_vectors(subcategories_, items_->subcategories, items, pass);
}

Tensor register_entities(torch::nn::Module& module, const ModelInputs& inputs) {
  const ItemFeatures& items = *inputs.items;
  if (items.entity_vectors.defined())
    return module.register_parameter("entities", items.entity_vectors.clone(), false);
  return module.register_parameter(
      "entities", embedding_uniform(std::max<std::int64_t>(items.entity_count, 1), inputs.shape.entity_size));
}

UserVectors::UserVectors(const ModelInputs& inputs, std::int64_t size)
    : known_(inputs.known),
      mask_(inputs.shape.user_mask),
      table_(register_parameter("table", embedding_uniform(known_.rows(), size))) {}

Tensor UserVectors::forward(const Histories& histories, Pass& pass) {
  std::vector<std::int64_t> rows;
  rows.reserve(histories.size());
  for (const data::UserId user : histories.users) rows.push_back(known_.row(user));
  const Tensor own = gather_rows(table_, std::move(rows));
  if (!pass.training || mask_ == 0) return own;
  const Tensor kept = dropout(torch::ones({own.size(0), 1}, own.options()), mask_, pass).gt(0);
  return torch::where(kept, own, table_.slice(0, known_.rows() - 1));
}

CandidateAttention::CandidateAttention(std::int64_t click_size, std::int64_t candidate_size,
                                       std::int64_t hidden)
    : click_(register_module("click", std::make_shared<Dense>(click_size, hidden))),
      candidate_(register_module("candidate", std::make_shared<Dense>(candidate_size, hidden))),
      query_(register_parameter("query", glorot_uniform(hidden, 1).squeeze(1))) {}

Tensor CandidateAttention::forward(const RaggedRows& clicks, const Tensor& candidates,
                                   const ScoreRequest& request) {
  // Every pair has its own copy of its history's rows; the products are taken once per click and item.
  const auto& offsets = clicks.segments.offsets();
  std::vector<std::int64_t> rows, items, pair_offsets = {0};
  for (std::size_t p = 0; p < request.pair_item.size(); ++p) {
    const auto history = static_cast<std::size_t>(request.pair_history[p]);
    for (std::int64_t row = offsets[history]; row < offsets[history + 1]; ++row) {
      rows.push_back(row);
      items.push_back(request.pair_item[p]);
    }
    pair_offsets.push_back(static_cast<std::int64_t>(rows.size()));
  }
  const Tensor hidden = (gather_rows(click_->forward(clicks.rows), rows) +
                         gather_rows(candidate_->forward(candidates), std::move(items)))
                            .relu();
  return ragged_pool(hidden.mv(query_), gather_rows(clicks.rows, std::move(rows)),
                     Segments(std::move(pair_offsets)));
}

}  // namespace sotto::model
