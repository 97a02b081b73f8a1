#pragma once
// The layers of the user models. Letters: W clicks (rows), D columns, H hidden units of a pooling.

#include <Eigen/Core>

namespace sotto::device {

using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::RowVectorXf;

// Multi-head scaled dot-product self-attention without biases or output projection. [W, D] -> [W, D].
struct SelfAttention {
  Rows weight;  // [D, 3 D]: queries | keys | values
  Eigen::Index heads = 1;
  Rows forward(const Rows& rows) const;
};

// Weights softmax(tanh(x W + b) q), then the weighted sum of the rows. [W, D] -> [D].
struct AdditivePooling {
  Rows weight;      // [D, H]
  Row bias, query;  // [H]
  Row forward(const Rows& rows) const;
};

// Weights softmax(x·q), then the weighted sum of the rows. [W, D] -> [D].
struct QueryPooling {
  Row query;  // [D]
  Row forward(const Rows& rows) const;
};

// Gated recurrent unit (reset before the product, one bias) over the last `most` rows. [W, D] -> [D].
struct RecentGru {
  Rows input;      // [D, 3 D]: update | reset | proposal
  Rows gates;      // [D, 2 D]
  Rows candidate;  // [D, D]
  Row bias;        // [3 D]
  Eigen::Index most = 0;
  Row forward(const Rows& rows) const;
};

}  // namespace sotto::device
