#pragma once
// Parts that several news models are put together from. Each is a module that owns its weights and shares the
// item features it reads; none is thread-safe.
//
// Letters: M items, W rows (words, clicks), U histories, P pairs, D columns.

#include <memory>
#include <span>
#include <vector>

#include "model/news/news_shape.h"
#include "model/news/ranking_model.h"

namespace sotto::model {

// The word vectors a model is given, trained or not as its shape says.
torch::Tensor register_words(torch::nn::Module& module, const ModelInputs& inputs);

// The vectors of the words (or entities) of items.
RaggedRows text_rows(const torch::Tensor& vectors, const ItemText& text, std::span<const data::ItemId> items,
                     const Pass& pass);

// dropout -> convolution of window 3 -> dropout -> additive pooling: [W, word size] -> [M, filters].
class TextCnn : public torch::nn::Module {
 public:
  explicit TextCnn(const NewsShape& shape);
  torch::Tensor forward(const RaggedRows& text, Pass& pass);

 private:
  double dropout_;
  std::shared_ptr<WordConvolution> convolution_;
  std::shared_ptr<AdditivePooling> pooling_;
};

// dropout -> self-attention -> dropout -> additive pooling: [W, in] -> [M, heads x head size]. The news and
// the user encoder of NRMS.
class AttentionEncoder : public torch::nn::Module {
 public:
  AttentionEncoder(const NewsShape& shape, std::int64_t in);
  torch::Tensor forward(const torch::Tensor& rows, const Segments& segments, Pass& pass);

 private:
  double dropout_;
  std::shared_ptr<SelfAttention> attention_;
  std::shared_ptr<AdditivePooling> pooling_;
};

// Learned vectors of categories and subcategories. Code 0, the unknown one, is the zero vector.
class CategoryVectors : public torch::nn::Module {
 public:
  CategoryVectors(std::shared_ptr<const ItemFeatures> items, std::int64_t size);
  torch::Tensor categories(std::span<const data::ItemId> items, const Pass& pass);     // [M, size]
  torch::Tensor subcategories(std::span<const data::ItemId> items, const Pass& pass);  // [M, size]

 private:
  std::shared_ptr<const ItemFeatures> items_;
  torch::Tensor categories_, subcategories_;
};

// Vectors of entities: the data's, which stay as they are, or learned ones of `entity_size` where it has
// none.
torch::Tensor register_entities(torch::nn::Module& module, const ModelInputs& inputs);

// One learned vector per known user and one for all others. In training a share of the histories is read as
// an unknown user's: this is what the unknown row learns from, and keeps a model from relying on the ids.
class UserVectors : public torch::nn::Module {
 public:
  UserVectors(const ModelInputs& inputs, std::int64_t size);
  torch::Tensor forward(const Histories& histories, Pass& pass);  // [U, size]

 private:
  KnownUsers known_;
  double mask_;
  torch::Tensor table_;  // [known + 1, size]
};

// Attention of a candidate over a reader's clicks: weights softmax(v . relu(click A + candidate B + b)).
class CandidateAttention : public torch::nn::Module {
 public:
  CandidateAttention(std::int64_t click_size, std::int64_t candidate_size, std::int64_t hidden);
  // clicks: [W, D] in U segments; candidates: [M, candidate_size]. Returns [P, D].
  torch::Tensor forward(const RaggedRows& clicks, const torch::Tensor& candidates,
                        const ScoreRequest& request);

 private:
  std::shared_ptr<Dense> click_, candidate_;
  torch::Tensor query_;  // [hidden]
};

}  // namespace sotto::model
