#pragma once
// BERT's encoder (Devlin et al. 2018) of any size, on ragged rows: texts back to back, nothing padded on the
// CPU. Embeddings are the layer norm of word + position + token type 0; layers follow. Where users are told
// apart (user_parameters.h), layers that learn give each user its own gradient.
//
// Letters: W pieces, N texts, D hidden size, F intermediate size.

#include <memory>
#include <vector>

#include "model/bert/bert_config.h"
#include "model/layers/ragged.h"

namespace sotto::model {

// x W + b: [W, in] -> [W, out].
class BertLinear : public torch::nn::Module {
 public:
  BertLinear(std::int64_t in, std::int64_t out);
  torch::Tensor forward(const torch::Tensor& rows, const Owners& owners);
  torch::Tensor weight, bias;  // [in, out], [out]
};

// Layer norm of every row.
class BertNorm : public torch::nn::Module {
 public:
  BertNorm(std::int64_t size, double eps);
  torch::Tensor forward(const torch::Tensor& rows, const Owners& owners);
  torch::Tensor weight, bias;  // [D]

 private:
  double eps_;
};

// x = norm(x + out(attention(qkv(x)))), then norm(x + down(gelu(up(x)))): [W, D] -> [W, D].
class BertLayer : public torch::nn::Module {
 public:
  explicit BertLayer(const BertConfig& config);
  torch::Tensor forward(const torch::Tensor& rows, const Segments& texts);

  std::shared_ptr<BertLinear> qkv, out, up, down;  // qkv: queries | keys | values, [D, 3 D]
  std::shared_ptr<BertNorm> attention_norm, output_norm;

 private:
  std::int64_t heads_;
  Gelu activation_;
};

// Owns its weights; not thread-safe. No dropout: the papers that put BERT on a server leave it out, so that
// gradients through news vectors are exact.
class BertModel : public torch::nn::Module {
 public:
  // Weights are not set: random_start(), or load_bert().
  explicit BertModel(const BertConfig& config);

  // Weights start as BERT's: normal with deviation 0.02, zero biases. From torch's default generator.
  void random_start();

  // The last hidden states [W, D] of texts given as pieces: each of the W pieces must be below `vocabulary`,
  // no text longer than `positions`. Throws c10::Error otherwise.
  torch::Tensor forward(const std::vector<std::int64_t>& pieces, const Segments& texts);
  // The same in two steps; encode() runs layers [first, last).
  torch::Tensor embed(const std::vector<std::int64_t>& pieces, const Segments& texts);
  torch::Tensor encode(torch::Tensor states, const Segments& texts, std::int64_t first, std::int64_t last);

  // Everything else stops requiring gradients. Before FlatParameters, which registers what then requires
  // them.
  void train_only(const TrainableParts& parts);
  // The first layer that a gradient must reach: 0 when the embeddings learn, config().layers when nothing
  // does.
  std::int64_t first_trained_layer() const;

  const BertConfig& config() const { return config_; }

  torch::Tensor words, positions, token_types;  // [vocabulary, D], [positions, D], [token types, D]
  std::shared_ptr<BertNorm> embedding_norm;
  std::vector<std::shared_ptr<BertLayer>> layers;

 private:
  BertConfig config_;
};

}  // namespace sotto::model
