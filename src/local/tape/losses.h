#pragma once
// What training makes small, summed over examples: [1, 1].

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "local/tape/tape.h"

namespace sotto::local {

// Σ over the examples of −log softmax(scores)[first]: the clicked candidate stands first. scores: [S C, 1],
// example after example.
template <class Real>
Value<Real> listwise_loss(const Value<Real>& scores, Index candidates) {
  require_shape(scores.cols() == 1 && candidates > 0 && scores.rows() % candidates == 0,
                "scores that are not whole examples");
  Matrix<Real> weights =
      Eigen::Map<const Matrix<Real>>(scores.numbers().data(), scores.rows() / candidates, candidates);
  Real loss = 0;
  for (Index s = 0; s < weights.rows(); ++s) {
    auto row = weights.row(s).array();
    const Real clicked = row[0], largest = row.maxCoeff();
    row = (row - largest).exp();
    const Real total = row.sum();
    loss += std::log(total) - (clicked - largest);
    row /= total;
  }
  return scores.tape().record(
      Matrix<Real>::Constant(1, 1, loss), {scores},
      [scores, weights = std::move(weights)](const Matrix<Real>& gradient) {
        Matrix<Real> part = weights;
        part.col(0).array() -= Real{1};
        scores.add_gradient(gradient(0, 0) * part.template reshaped<Eigen::RowMajor>());
      });
}

// Σ −weight (y log p + (1 − y) log(1 − p)) with p = 1/(1 + e^−score) and labels y of 0 or 1. scores: [S, 1].
template <class Real>
Value<Real> binary_loss(const Value<Real>& scores, const std::vector<Real>& labels,
                        const std::vector<Real>& weights) {
  require_shape(scores.cols() == 1 && scores.rows() == static_cast<Index>(labels.size()) &&
                    labels.size() == weights.size(),
                "a label and a weight for each score");
  Real loss = 0;
  Matrix<Real> slopes(scores.rows(), 1);
  for (Index s = 0; s < scores.rows(); ++s) {
    const Real score = scores.numbers()(s, 0), label = labels[static_cast<std::size_t>(s)];
    const Real weight = weights[static_cast<std::size_t>(s)];
    // log(1 + e^score) without overflow, less what the label takes away
    loss += weight * (std::max(score, Real{0}) + std::log1p(std::exp(-std::abs(score))) - score * label);
    slopes(s, 0) = weight * (Real{1} / (Real{1} + std::exp(-score)) - label);
  }
  return scores.tape().record(Matrix<Real>::Constant(1, 1, loss), {scores},
                              [scores, slopes = std::move(slopes)](const Matrix<Real>& gradient) {
                                scores.add_gradient(gradient(0, 0) * slopes);
                              });
}

}  // namespace sotto::local
