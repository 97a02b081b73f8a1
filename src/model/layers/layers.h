#pragma once
// The layers the news models share. All work on ragged rows: W rows in N segments. Weights start as named in
// the constructors.
//
// Letters: W rows, N segments, D columns, H heads.

#include <memory>
#include <span>
#include <vector>

#include "model/layers/ragged.h"
#include "model/layers/row_functions.h"
#include "model/tensor.h"

namespace sotto::model {

// Ragged rows as a padded tensor and back, without a loop over segments: what plain tensor operations need on
// CUDA, and in the tests' references.
//
// Letters: W rows, N segments, L rows of the longest, D columns.
struct Padding {
  std::int64_t segments, longest;
  torch::Tensor rows;    // [N L] the row at each place; any row where there is none
  torch::Tensor blank;   // [N, L] true where there is none
  torch::Tensor places;  // [W] the place of each row
};

// Segments that have a row.
Padding padding_of(const Segments& segments, torch::Device device);

// [W, D] -> [N, L, D]. Blank places hold anything, and the gradient that arrives there is dropped: mask them.
torch::Tensor pad(const torch::Tensor& rows, const Padding& padding);
// [N, L, D] -> [W, D].
torch::Tensor unpad(const torch::Tensor& padded, const Padding& padding);

// uniform(+-sqrt(6 / (rows + columns)))
torch::Tensor glorot_uniform(std::int64_t rows, std::int64_t columns);
// uniform(+-0.05): tables of category, entity and user vectors, as Keras starts them.
torch::Tensor embedding_uniform(std::int64_t rows, std::int64_t columns);
// What is left of a Glorot matrix beside an identity: Start::identity.
inline constexpr double around_identity = 0.3;

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

// x W + b: [W, in] -> [W, out]. Glorot-uniform matrix, zero bias.
class Dense : public torch::nn::Module {
 public:
  Dense(std::int64_t in, std::int64_t out);
  torch::Tensor forward(const torch::Tensor& rows, const Owners& owners = {});

 private:
  torch::Tensor weight_, bias_;
};

// Convolutions of windows 1, 2 and 3 side by side, ReLU, then the maximum over each segment (Kim 2014); the
// `out` filters are shared out evenly. [W, in] -> [N, out].
class WindowConvolutions : public torch::nn::Module {
 public:
  WindowConvolutions(std::int64_t in, std::int64_t out);
  torch::Tensor forward(const torch::Tensor& words, const Segments& segments);

 private:
  std::int64_t in_;
  std::vector<std::shared_ptr<Dense>> windows_;
};

// Mean and maximum of the rows of each segment: [W, D] -> [N, D]; an empty segment gives zeros.
torch::Tensor segment_mean(const torch::Tensor& rows, const Segments& segments);
torch::Tensor segment_max(const torch::Tensor& rows, const Segments& segments);

// table[rows] of a learned table, and zeros where the number is negative: [W, D].
torch::Tensor rows_or_zero(const torch::Tensor& table, std::span<const std::int32_t> rows,
                           const Owners& owners = {});

}  // namespace sotto::model
