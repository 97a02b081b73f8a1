#pragma once
// The layers of BERT on ragged rows. Where users are told apart (user_parameters.h), layers that learn give
// each user its own gradient.
//
// Letters: W pieces, D hidden size, F intermediate size.

#include <memory>

#include "model/bert_config.h"
#include "model/ragged.h"

namespace sotto {

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

}  // namespace sotto
