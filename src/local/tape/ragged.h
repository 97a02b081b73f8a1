#pragma once
// Operations over ragged rows: W rows cut into N segments (titles into words, histories into clicks). The
// same functions as the server's (model/layers/ragged.h), to which the tests hold them.
//
// Letters: W rows, N segments, C columns, H heads.

#include <algorithm>
#include <cmath>
#include <vector>

#include "local/tape/tape.h"

namespace sotto::local {

// Where segments begin, and the end of the last: [N + 1], ascending from 0.
using Offsets = std::vector<Index>;

inline void require_segments(const Offsets& offsets, Index rows) {
  require_shape(!offsets.empty() && offsets.front() == 0 && offsets.back() == rows &&
                    std::is_sorted(offsets.begin(), offsets.end()),
                "segments that do not cover their rows");
}
inline Index segments_in(const Offsets& offsets) { return static_cast<Index>(offsets.size()) - 1; }

// Calls visit(segment, first row, rows) for every segment that has rows.
template <class Visit>
void each_segment(const Offsets& offsets, const Visit& visit) {
  for (std::size_t n = 0; n + 1 < offsets.size(); ++n)
    if (offsets[n + 1] > offsets[n]) visit(static_cast<Index>(n), offsets[n], offsets[n + 1] - offsets[n]);
}

// [W, C] -> [W, 3C]: each row between its neighbours of the same segment, zeros beyond the ends.
template <class Real>
Value<Real> windows_of_three(const Value<Real>& rows, Offsets offsets) {
  require_segments(offsets, rows.rows());
  const Index size = rows.cols();
  Matrix<Real> result = Matrix<Real>::Zero(rows.rows(), 3 * size);
  result.middleCols(size, size) = rows.numbers();
  each_segment(offsets, [&](Index, Index first, Index count) {
    result.block(first + 1, 0, count - 1, size) = rows.numbers().middleRows(first, count - 1);
    result.block(first, 2 * size, count - 1, size) = rows.numbers().middleRows(first + 1, count - 1);
  });
  return rows.tape().record(
      std::move(result), {rows}, [rows, size, offsets = std::move(offsets)](const Matrix<Real>& gradient) {
        Matrix<Real>& sums = rows.gradient_to_fill();
        sums += gradient.middleCols(size, size);
        each_segment(offsets, [&](Index, Index first, Index count) {
          sums.middleRows(first, count - 1) += gradient.block(first + 1, 0, count - 1, size);
          sums.middleRows(first + 1, count - 1) += gradient.block(first, 2 * size, count - 1, size);
        });
      });
}

// [W, C] -> [N, C]; an empty segment gives zeros.
template <class Real>
Value<Real> segment_sum(const Value<Real>& rows, Offsets offsets) {
  require_segments(offsets, rows.rows());
  Matrix<Real> result = Matrix<Real>::Zero(segments_in(offsets), rows.cols());
  each_segment(offsets, [&](Index n, Index first, Index count) {
    result.row(n) = rows.numbers().middleRows(first, count).colwise().sum();
  });
  return rows.tape().record(std::move(result), {rows},
                            [rows, offsets = std::move(offsets)](const Matrix<Real>& gradient) {
                              Matrix<Real>& sums = rows.gradient_to_fill();
                              each_segment(offsets, [&](Index n, Index first, Index count) {
                                sums.middleRows(first, count).rowwise() += gradient.row(n);
                              });
                            });
}

// Softmax of scores [W, 1] within each segment, then the weighted sum of values [W, C]: [N, C]. An empty
// segment gives zeros.
template <class Real>
Value<Real> ragged_pool(const Value<Real>& scores, const Value<Real>& values, Offsets offsets) {
  require_segments(offsets, values.rows());
  require_shape(scores.rows() == values.rows() && scores.cols() == 1, "pooling needs one score for each row");
  using Column = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  Column weights = scores.numbers().col(0);
  Matrix<Real> result = Matrix<Real>::Zero(segments_in(offsets), values.cols());
  each_segment(offsets, [&](Index n, Index first, Index count) {
    auto own = weights.segment(first, count);
    own = (own.array() - own.maxCoeff()).exp().matrix();
    own /= own.sum();
    result.row(n).noalias() = own.transpose() * values.numbers().middleRows(first, count);
  });
  return values.tape().record(
      std::move(result), {scores, values},
      [scores, values, weights = std::move(weights), offsets = std::move(offsets)](
          const Matrix<Real>& gradient, const Matrix<Real>& pooled) {
        each_segment(offsets, [&](Index n, Index first, Index count) {
          const auto own = weights.segment(first, count);
          if (values.wants_gradient())
            values.gradient_to_fill().middleRows(first, count).noalias() += own * gradient.row(n);
          if (!scores.wants_gradient()) return;
          const Column along = values.numbers().middleRows(first, count) * gradient.row(n).transpose();
          scores.gradient_to_fill().col(0).segment(first, count).array() +=
              own.array() * (along.array() - pooled.row(n).dot(gradient.row(n)));
        });
      });
}

// Scaled dot-product self-attention within each segment. queries | keys | values: [W, 3C] -> [W, C].
template <class Real>
Value<Real> ragged_attention(const Value<Real>& projected, Offsets offsets, Index heads) {
  require_segments(offsets, projected.rows());
  require_shape(heads > 0 && projected.cols() % (3 * heads) == 0, "attention heads that do not fit");
  const Index size = projected.cols() / 3, head = size / heads;
  const Real scale = Real{1} / std::sqrt(static_cast<Real>(head));
  // The weights of a segment and head, from its block of `projected`: kept nowhere, as they are quadratic.
  const auto weights_of = [=](const auto& block, Index h) {
    Matrix<Real> weights =
        scale * block.middleCols(h * head, head) * block.middleCols(size + h * head, head).transpose();
    for (Index w = 0; w < weights.rows(); ++w) {
      auto row = weights.row(w).array();
      row = (row - row.maxCoeff()).exp();
      row /= row.sum();
    }
    return weights;
  };
  Matrix<Real> result(projected.rows(), size);
  each_segment(offsets, [&](Index, Index first, Index count) {
    const auto block = projected.numbers().middleRows(first, count);
    for (Index h = 0; h < heads; ++h)
      result.block(first, h * head, count, head).noalias() =
          weights_of(block, h) * block.middleCols(2 * size + h * head, head);
  });
  return projected.tape().record(
      std::move(result), {projected}, [=, offsets = std::move(offsets)](const Matrix<Real>& gradient) {
        Matrix<Real>& sums = projected.gradient_to_fill();
        each_segment(offsets, [&](Index, Index first, Index count) {
          const auto block = projected.numbers().middleRows(first, count);
          for (Index h = 0; h < heads; ++h) {
            const auto of_result = gradient.block(first, h * head, count, head);
            const Matrix<Real> weights = weights_of(block, h);
            sums.block(first, 2 * size + h * head, count, head).noalias() += weights.transpose() * of_result;
            Matrix<Real> of_scores =
                of_result * block.middleCols(2 * size + h * head, head).transpose();  // of the weights so far
            const Eigen::Matrix<Real, Eigen::Dynamic, 1> along =
                of_scores.cwiseProduct(weights).rowwise().sum();
            of_scores = scale * weights.cwiseProduct(of_scores.colwise() - along);
            sums.block(first, h * head, count, head).noalias() +=
                of_scores * block.middleCols(size + h * head, head);
            sums.block(first, size + h * head, count, head).noalias() +=
                of_scores.transpose() * block.middleCols(h * head, head);
          }
        });
      });
}

}  // namespace sotto::local
