#pragma once
// From the vectors of clicked items to the vector of their reader, on the device: the same functions as the
// user side of the models that the server trains (held equal by tests), in Eigen, without torch.
//
// Immutable after creation, safe to share between threads. Each layer is a value with its weights and a pure
// forward function of its rows, so that a gradient is one more function beside it.

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sotto::device {

// The layers of the user models. Letters: W clicks (rows), D columns, H hidden units of a pooling.
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

namespace sotto::device {

// A named block of weights, row-major.
struct NamedTensor {
  std::string name;
  std::vector<std::uint32_t> shape;
  std::vector<float> values;
};

struct UserModelShape {
  std::string kind;                 // one of user_model_kinds
  std::uint32_t dimension = 0;      // of item and user vectors
  std::uint32_t heads = 0;          // of attention: nrms, fednewsrec
  std::uint32_t recent_clicks = 0;  // that the recurrent unit reads: fednewsrec
};

// "nrms": self-attention, then additive pooling. "naml": additive pooling. "fednewsrec": both of the above
// over all clicks, a gated recurrent unit over the last ones, merged by additive pooling. "catalogue": a
// public vector plus the clicks pooled by one query, scaled per dimension and trusted the more of them there
// are. "sum": a public vector plus the sum of the clicks, taken through a public matrix, by the root of their
// number: item factors. "mean": the average.
inline constexpr std::string_view user_model_kinds[] = {"nrms",      "naml", "fednewsrec",
                                                        "catalogue", "sum",  "mean"};

class UserModel {
 public:
  // Weights are called as in the server's model ("user.pooling.query"); missing ones, wrong shapes and
  // leftovers are errors.
  static Result<UserModel> create(const UserModelShape& shape, std::span<const NamedTensor> weights);

  // clicks: rows of `dimension` numbers, oldest first. No clicks read as one item of zeros.
  std::vector<float> encode(std::span<const float> clicks) const;
  const UserModelShape& shape() const { return shape_; }

  class Layers;

 private:
  UserModel(UserModelShape shape, std::shared_ptr<const Layers> layers)
      : shape_(std::move(shape)), layers_(std::move(layers)) {}
  UserModelShape shape_;
  std::shared_ptr<const Layers> layers_;
};

}  // namespace sotto::device
