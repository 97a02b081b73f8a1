#pragma once
// Operations on whole rows: taking and joining them, dot products, softmax, dropout, and what a device does
// to weights that it sends (clip and normalise).
//
// Letters: R rows, C columns.

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/distributions.h"
#include "local/tape/tape.h"

namespace sotto::local {

using RowNumbers = std::vector<Index>;

// table[rows]: [M, C] -> [R, C]. A row may be taken any number of times.
template <class Real>
Value<Real> gather_rows(const Value<Real>& table, RowNumbers rows) {
  Matrix<Real> taken(static_cast<Index>(rows.size()), table.cols());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    require_shape(rows[r] >= 0 && rows[r] < table.rows(), "a row that the table does not have");
    taken.row(static_cast<Index>(r)) = table.numbers().row(rows[r]);
  }
  return table.tape().record(std::move(taken), {table},
                             [table, rows = std::move(rows)](const Matrix<Real>& gradient) {
                               Matrix<Real>& sums = table.gradient_to_fill();
                               for (std::size_t r = 0; r < rows.size(); ++r)
                                 sums.row(rows[r]) += gradient.row(static_cast<Index>(r));
                             });
}

// Columns [first, first + count), and rows.
template <class Real>
Value<Real> slice_columns(const Value<Real>& a, Index first, Index count) {
  require_shape(first >= 0 && count >= 0 && first + count <= a.cols(), "a slice beyond the columns");
  return a.tape().record(a.numbers().middleCols(first, count), {a},
                         [a, first, count](const Matrix<Real>& gradient) {
                           a.gradient_to_fill().middleCols(first, count) += gradient;
                         });
}

template <class Real>
Value<Real> slice_rows(const Value<Real>& a, Index first, Index count) {
  require_shape(first >= 0 && count >= 0 && first + count <= a.rows(), "a slice beyond the rows");
  return a.tape().record(a.numbers().middleRows(first, count), {a},
                         [a, first, count](const Matrix<Real>& gradient) {
                           a.gradient_to_fill().middleRows(first, count) += gradient;
                         });
}

// a | b: [R, A], [R, B] -> [R, A + B].
template <class Real>
Value<Real> beside(const Value<Real>& a, const Value<Real>& b) {
  require_shape(a.rows() == b.rows(), "matrices of different height beside each other");
  Matrix<Real> both(a.rows(), a.cols() + b.cols());
  both << a.numbers(), b.numbers();
  return a.tape().record(std::move(both), {a, b}, [a, b](const Matrix<Real>& gradient) {
    a.add_gradient(gradient.leftCols(a.cols()));
    b.add_gradient(gradient.rightCols(b.cols()));
  });
}

// a above b: [A, C], [B, C] -> [A + B, C].
template <class Real>
Value<Real> above(const Value<Real>& a, const Value<Real>& b) {
  require_shape(a.cols() == b.cols(), "matrices of different width above each other");
  Matrix<Real> both(a.rows() + b.rows(), a.cols());
  both << a.numbers(), b.numbers();
  return a.tape().record(std::move(both), {a, b}, [a, b](const Matrix<Real>& gradient) {
    a.add_gradient(gradient.topRows(a.rows()));
    b.add_gradient(gradient.bottomRows(b.rows()));
  });
}

// a_r · b_r: [R, C], [R, C] -> [R, 1].
template <class Real>
Value<Real> dot_rows(const Value<Real>& a, const Value<Real>& b) {
  require_shape(a.rows() == b.rows() && a.cols() == b.cols(), "dot products of rows that do not fit");
  return a.tape().record(a.numbers().cwiseProduct(b.numbers()).rowwise().sum(), {a, b},
                         [a, b](const Matrix<Real>& gradient) {
                           const auto by_row = gradient.col(0).asDiagonal();
                           a.add_gradient(by_row * b.numbers());
                           b.add_gradient(by_row * a.numbers());
                         });
}

template <class Real>
Value<Real> softmax_rows(const Value<Real>& a) {
  require_shape(a.cols() > 0, "a softmax over nothing");
  Matrix<Real> result = a.numbers();
  for (Index r = 0; r < result.rows(); ++r) {
    auto row = result.row(r).array();
    row = (row - row.maxCoeff()).exp();
    row /= row.sum();
  }
  return a.tape().record(std::move(result), {a},
                         [a](const Matrix<Real>& gradient, const Matrix<Real>& weights) {
                           const Matrix<Real> weighted = gradient.cwiseProduct(weights);
                           const Eigen::Matrix<Real, Eigen::Dynamic, 1> sums = weighted.rowwise().sum();
                           a.add_gradient(weighted - sums.asDiagonal() * weights);
                         });
}

// Each number becomes 0 with probability `rate`, the others grow so that the mean stays.
template <class Real>
Value<Real> dropout(const Value<Real>& a, double rate, RandomSource& draws) {
  require_shape(rate >= 0 && rate < 1, "a rate of dropout is at least 0 and below 1");
  if (rate == 0) return a;
  const auto kept = static_cast<Real>(1 / (1 - rate));
  Matrix<Real> mask(a.rows(), a.cols());
  for (Real& number : mask.reshaped()) number = bernoulli(draws, rate) ? Real{0} : kept;
  Matrix<Real> result = a.numbers().cwiseProduct(mask);
  return a.tape().record(std::move(result), {a}, [a, mask = std::move(mask)](const Matrix<Real>& gradient) {
    a.add_gradient(gradient.cwiseProduct(mask));
  });
}

// Rows that are longer than `most` (L2) become as long.
template <class Real>
Value<Real> clip_rows(const Value<Real>& a, Real most) {
  require_shape(most > 0, "a bound of lengths is above 0");
  using Column = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  const Column lengths = a.numbers().rowwise().norm();
  Column factors = (lengths.array() > most).select(most / lengths.array(), Real{1});
  Matrix<Real> result = factors.asDiagonal() * a.numbers();
  return a.tape().record(std::move(result), {a}, [a, factors](const Matrix<Real>& gradient) {
    // Of a row that was clipped only what lies across it goes on.
    Matrix<Real> across = gradient;
    for (Index r = 0; r < across.rows(); ++r) {
      if (factors[r] == Real{1}) continue;
      const auto row = a.numbers().row(r);
      across.row(r) -= row * (row.dot(gradient.row(r)) / row.squaredNorm());
      across.row(r) *= factors[r];
    }
    a.add_gradient(across);
  });
}

// Rows of numbers >= 0 are divided by their sums; a row whose sum is next to nothing becomes uniform.
template <class Real>
Value<Real> normalise_rows(const Value<Real>& a) {
  constexpr auto nothing = static_cast<Real>(1e-12);
  Matrix<Real> result = a.numbers();
  Eigen::Matrix<Real, Eigen::Dynamic, 1> sums = result.rowwise().sum();
  for (Index r = 0; r < result.rows(); ++r) {
    if (sums[r] > nothing)
      result.row(r) /= sums[r];
    else
      result.row(r).setConstant(Real{1} / static_cast<Real>(result.cols()));
  }
  return a.tape().record(
      std::move(result), {a}, [a, sums](const Matrix<Real>& gradient, const Matrix<Real>& shares) {
        Matrix<Real> part = Matrix<Real>::Zero(gradient.rows(), gradient.cols());
        for (Index r = 0; r < part.rows(); ++r) {
          if (!(sums[r] > nothing)) continue;
          part.row(r).array() = (gradient.row(r).array() - gradient.row(r).dot(shares.row(r))) / sums[r];
        }
        a.add_gradient(part);
      });
}

}  // namespace sotto::local
