#pragma once
// The layers of the news models (model/layers/layers.h) on a tape. A layer enters its weights in a layout
// when it is made, by the server's names, and finds them among the parameters of a pass.
//
// Letters: W rows, N segments.

#include <string>
#include <vector>

#include "local/ranking_model.h"

namespace sotto::local {

using Parts = std::vector<Layout::Part>;

// About the numbers that attention and pooling keep of a row, with their gradients: in, queries, keys,
// values, out, hidden.
inline std::size_t attention_numbers(Index size) { return 12 * static_cast<std::size_t>(size); }

// Multi-head self-attention without biases or output projection: [W, in] -> [W, heads head_size].
class SelfAttention {
 public:
  SelfAttention(Parts& parts, const std::string& name, Index in, Index heads, Index head_size);
  Value<float> forward(const Pass& pass, const Value<float>& rows, const Offsets& offsets) const;

 private:
  std::size_t first_;
  Index heads_;
};

// Additive attention pooling: weights softmax(tanh(x W + b) q) within each segment. [W, in] -> [N, in].
class AdditivePooling {
 public:
  AdditivePooling(Parts& parts, const std::string& name, Index in, Index hidden);
  Value<float> forward(const Pass& pass, const Value<float>& rows, const Offsets& offsets) const;

 private:
  std::size_t first_;
};

// Convolution over words, window 3, then ReLU: [W, in] -> [W, out].
class WordConvolution {
 public:
  WordConvolution(Parts& parts, const std::string& name, Index in, Index out);
  Value<float> forward(const Pass& pass, const Value<float>& words, const Offsets& offsets) const;

 private:
  std::size_t first_;
};

// Gated recurrent unit (reset before the product, one bias) over the last `most` rows of each segment, each
// of which has one: [W, in] -> [N, size].
class RecentGru {
 public:
  RecentGru(Parts& parts, const std::string& name, Index in, Index size, Index most);
  Value<float> forward(const Pass& pass, const Value<float>& rows, const Offsets& offsets) const;

 private:
  std::size_t first_;
  Index size_, most_;
};

// dropout -> self-attention -> dropout -> additive pooling: NRMS reads titles and histories by it.
class AttentionEncoder {
 public:
  struct Sizes {
    Index in, heads, head_size, pooling;
    double dropout;
  };
  AttentionEncoder(Parts& parts, const std::string& name, const Sizes& sizes);
  Value<float> forward(const Pass& pass, const Value<float>& rows, const Offsets& offsets) const;

 private:
  double dropout_;
  SelfAttention attention_;
  AdditivePooling pooling_;
};

}  // namespace sotto::local
