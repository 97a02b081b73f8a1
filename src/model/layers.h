#pragma once
// The layers the news models share. All work on ragged rows: W rows in N segments. Weights start as named in
// the constructors.
//
// Letters: W rows, N segments, D columns, H heads.

#include <torch/torch.h>

#include "model/ragged.h"
#include "model/row_functions.h"

namespace sotto {

// uniform(+-sqrt(6 / (rows + columns)))
torch::Tensor glorot_uniform(std::int64_t rows, std::int64_t columns);

// How weights start. glorot: Glorot-uniform matrices, zero biases, as in the papers' Keras code. identity:
// small Glorot matrices around a map that keeps similarity (orthogonal or identity), so that titles which
// share words have similar vectors, and users resemble what they read, before anything is learned.
enum class Start { glorot, identity };

// Convolution over words, window 3, then ReLU: [W, in] -> [W, out].
class WordConvolution : public torch::nn::Module {
 public:
  WordConvolution(std::int64_t in, std::int64_t out, Start start = Start::glorot);
  torch::Tensor forward(const torch::Tensor& words, const Segments& segments);

 private:
  torch::Tensor weight_, bias_;  // [3 in, out], [out]
};

// Multi-head self-attention without biases or output projection: [W, in] -> [W, heads * head_size].
class SelfAttention : public torch::nn::Module {
 public:
  SelfAttention(std::int64_t in, std::int64_t heads, std::int64_t head_size, Start start = Start::glorot);
  torch::Tensor forward(const torch::Tensor& rows, const Segments& segments);

 private:
  std::int64_t heads_;
  torch::Tensor weight_;  // [in, 3 heads head_size]
};

// Additive attention pooling: weights softmax(tanh(x W + b) q) within each segment. [W, in] -> [N, in].
class AdditivePooling : public torch::nn::Module {
 public:
  AdditivePooling(std::int64_t in, std::int64_t hidden);
  torch::Tensor forward(const torch::Tensor& rows, const Segments& segments);

 private:
  torch::Tensor weight_, bias_, query_;  // [in, hidden], [hidden], [hidden]
};

// Gated recurrent unit of Cho et al. 2014 (reset before the product, one bias). Reads the last `most` rows of
// every segment, oldest first; returns the last state, zero for an empty segment. [W, in] -> [N, size].
class RecentGru : public torch::nn::Module {
 public:
  RecentGru(std::int64_t in, std::int64_t size, std::int64_t most, Start start = Start::glorot);
  torch::Tensor forward(const torch::Tensor& rows, const Segments& segments);

 private:
  std::int64_t size_, most_;
  torch::Tensor input_, gates_, candidate_, bias_;  // [in, 3 size], [size, 2 size], [size, size], [3 size]
};

}  // namespace sotto
