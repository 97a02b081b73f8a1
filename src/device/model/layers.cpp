#include "device/model/layers.h"

#include <algorithm>
#include <cmath>

namespace sotto::device {

namespace {

template <class Derived>
void softmax_in_place(Eigen::MatrixBase<Derived>& scores) {
  scores.array() = (scores.array() - scores.maxCoeff()).exp();
  scores /= scores.sum();
}

Row sigmoid(const Row& x) { return (1 + (-x.array()).exp()).inverse().matrix(); }

}  // namespace

Rows SelfAttention::forward(const Rows& rows) const {
  const Rows projected = rows * weight;
  const Eigen::Index size = weight.cols() / 3;
  const Eigen::Index head = size / heads;
  Rows out(rows.rows(), size);
  for (Eigen::Index h = 0; h < heads; ++h) {
    const auto queries = projected.middleCols(h * head, head);
    const auto keys = projected.middleCols(size + h * head, head);
    const auto values = projected.middleCols(2 * size + h * head, head);
    Rows scores = queries * keys.transpose() / std::sqrt(static_cast<float>(head));
    for (Eigen::Index w = 0; w < scores.rows(); ++w) {
      auto row = scores.row(w);
      softmax_in_place(row);
    }
    out.middleCols(h * head, head).noalias() = scores * values;
  }
  return out;
}

Row AdditivePooling::forward(const Rows& rows) const {
  const Rows hidden = ((rows * weight).rowwise() + bias).array().tanh().matrix();
  Row scores = query * hidden.transpose();
  softmax_in_place(scores);
  return scores * rows;
}

Row QueryPooling::forward(const Rows& rows) const {
  Row scores = query * rows.transpose();
  softmax_in_place(scores);
  return scores * rows;
}

Row RecentGru::forward(const Rows& rows) const {
  const Eigen::Index size = candidate.cols();
  const Eigen::Index count = std::min(most, rows.rows());
  const Rows projected = (rows.bottomRows(count) * input).rowwise() + bias;
  Row state = Row::Zero(size);
  for (Eigen::Index step = 0; step < count; ++step) {
    const auto x = projected.row(step);
    const Row opened = sigmoid(x.head(2 * size) + state * gates);
    const Row reset_state = (opened.tail(size).array() * state.array()).matrix();
    const Row proposal = (x.tail(size) + reset_state * candidate).array().tanh().matrix();
    const auto update = opened.head(size).array();
    state = (update * state.array() + (1 - update) * proposal.array()).matrix();
  }
  return state;
}

}  // namespace sotto::device
