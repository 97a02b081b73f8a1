#pragma once
// Products, arithmetic that repeats rows and columns of one, and functions of single numbers.

#include "local/tape/tape.h"

namespace sotto::local {

// a b: [R, K], [K, C] -> [R, C].
template <class Real>
Value<Real> product(const Value<Real>& a, const Value<Real>& b) {
  require_shape(a.cols() == b.rows(), "a product of matrices that do not fit");
  return a.tape().record(a.numbers() * b.numbers(), {a, b}, [a, b](const Matrix<Real>& gradient) {
    a.add_gradient(gradient * b.numbers().transpose());
    b.add_gradient(a.numbers().transpose() * gradient);
  });
}

// a bᵀ: [R, K], [C, K] -> [R, C].
template <class Real>
Value<Real> product_transposed(const Value<Real>& a, const Value<Real>& b) {
  require_shape(a.cols() == b.cols(), "a product of matrices that do not fit");
  return a.tape().record(a.numbers() * b.numbers().transpose(), {a, b}, [a, b](const Matrix<Real>& gradient) {
    a.add_gradient(gradient * b.numbers());
    b.add_gradient(gradient.transpose() * a.numbers());
  });
}

namespace broadcast {

// How two matrices meet: one row, or one column, of either stands for all of the other's.
struct Shape {
  Index rows, cols;
};
inline Index common(Index a, Index b) {
  require_shape(a == b || a == 1 || b == 1, "arithmetic of matrices that do not fit");
  return a == 1 ? b : a;
}
template <class Real>
Shape common(const Value<Real>& a, const Value<Real>& b) {
  return {common(a.rows(), b.rows()), common(a.cols(), b.cols())};
}
template <class Real>
auto spread(const Matrix<Real>& numbers, Shape to) {
  return numbers.array().replicate(numbers.rows() == to.rows ? 1 : to.rows,
                                   numbers.cols() == to.cols ? 1 : to.cols);
}
// The gradient of what was spread: sums over its repetitions.
template <class Real, class Derived>
void add_folded(const Value<Real>& to, const Eigen::ArrayBase<Derived>& gradient) {
  if (!to.wants_gradient()) return;
  if (to.rows() == gradient.rows() && to.cols() == gradient.cols())
    to.add_gradient(gradient.matrix());
  else if (to.rows() == gradient.rows())
    to.add_gradient(gradient.matrix().rowwise().sum());
  else if (to.cols() == gradient.cols())
    to.add_gradient(gradient.matrix().colwise().sum());
  else
    to.add_gradient(Matrix<Real>::Constant(1, 1, gradient.sum()));
}

}  // namespace broadcast

template <class Real>
Value<Real> operator+(const Value<Real>& a, const Value<Real>& b) {
  const broadcast::Shape shape = broadcast::common(a, b);
  return a.tape().record(
      (broadcast::spread(a.numbers(), shape) + broadcast::spread(b.numbers(), shape)).matrix(), {a, b},
      [a, b](const Matrix<Real>& gradient) {
        broadcast::add_folded(a, gradient.array());
        broadcast::add_folded(b, gradient.array());
      });
}

template <class Real>
Value<Real> operator-(const Value<Real>& a, const Value<Real>& b) {
  const broadcast::Shape shape = broadcast::common(a, b);
  return a.tape().record(
      (broadcast::spread(a.numbers(), shape) - broadcast::spread(b.numbers(), shape)).matrix(), {a, b},
      [a, b](const Matrix<Real>& gradient) {
        broadcast::add_folded(a, gradient.array());
        broadcast::add_folded(b, -gradient.array());
      });
}

// Number by number.
template <class Real>
Value<Real> operator*(const Value<Real>& a, const Value<Real>& b) {
  const broadcast::Shape shape = broadcast::common(a, b);
  return a.tape().record(
      (broadcast::spread(a.numbers(), shape) * broadcast::spread(b.numbers(), shape)).matrix(), {a, b},
      [a, b, shape](const Matrix<Real>& gradient) {
        broadcast::add_folded(a, gradient.array() * broadcast::spread(b.numbers(), shape));
        broadcast::add_folded(b, gradient.array() * broadcast::spread(a.numbers(), shape));
      });
}

template <class Real>
Value<Real> operator/(const Value<Real>& a, const Value<Real>& b) {
  const broadcast::Shape shape = broadcast::common(a, b);
  return a.tape().record(
      (broadcast::spread(a.numbers(), shape) / broadcast::spread(b.numbers(), shape)).matrix(), {a, b},
      [a, b, shape](const Matrix<Real>& gradient) {
        const auto below = broadcast::spread(b.numbers(), shape);
        broadcast::add_folded(a, gradient.array() / below);
        broadcast::add_folded(b, -gradient.array() * broadcast::spread(a.numbers(), shape) / below.square());
      });
}

template <class Real>
Value<Real> scaled(const Value<Real>& a, Real factor) {
  return a.tape().record(a.numbers() * factor, {a},
                         [a, factor](const Matrix<Real>& gradient) { a.add_gradient(gradient * factor); });
}

template <class Real>
Value<Real> relu(const Value<Real>& a) {
  return a.tape().record(a.numbers().cwiseMax(Real{0}), {a}, [a](const Matrix<Real>& gradient) {
    a.add_gradient((a.numbers().array() > Real{0}).select(gradient, Real{0}));
  });
}

template <class Real>
Value<Real> exp(const Value<Real>& a) {
  return a.tape().record(a.numbers().array().exp().matrix(), {a},
                         [a](const Matrix<Real>& gradient, const Matrix<Real>& result) {
                           a.add_gradient(gradient.cwiseProduct(result));
                         });
}

template <class Real>
Value<Real> tanh(const Value<Real>& a) {
  return a.tape().record(a.numbers().array().tanh().matrix(), {a},
                         [a](const Matrix<Real>& gradient, const Matrix<Real>& result) {
                           a.add_gradient((gradient.array() * (Real{1} - result.array().square())).matrix());
                         });
}

template <class Real>
Value<Real> sigmoid(const Value<Real>& a) {
  return a.tape().record(
      (Real{1} + (-a.numbers().array()).exp()).inverse().matrix(), {a},
      [a](const Matrix<Real>& gradient, const Matrix<Real>& result) {
        a.add_gradient((gradient.array() * result.array() * (Real{1} - result.array())).matrix());
      });
}

}  // namespace sotto::local
