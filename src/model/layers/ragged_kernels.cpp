#include "model/layers/ragged_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/isa.h"

// Inner loops run over `lane` neighbours with a broadcast scalar as their other operand, so the compiler
// turns them into plain vector code. The weights of a head are stored key by key with queries side by side;
// vectors of a head are rows, padded to a multiple of `lane`. Only the right side of a product over head
// dimensions (queries forward, gradients backward) has to be turned for that.

namespace sotto::model::ragged {
namespace {

constexpr std::int64_t lane = 16;

std::int64_t padded(std::int64_t length) { return (length + lane - 1) / lane * lane; }

// to[column][row] = from[row][column]; rows beyond `rows` up to the padding become zero.
template <class T>
SOTTO_INLINE void load_transposed(const T* from, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                                  std::int64_t pitch, T* to) {
  std::fill(to, to + columns * pitch, T{0});
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) to[c * pitch + r] = from[r * stride + c];
}

// Rows of `columns` numbers, each followed by zeros up to `pitch`.
template <class T>
SOTTO_INLINE void load_rows(const T* from, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                            std::int64_t pitch, T* to) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) to[r * pitch + c] = from[r * stride + c];
    for (std::int64_t c = columns; c < pitch; ++c) to[r * pitch + c] = 0;
  }
}

template <class T>
SOTTO_INLINE void store_rows(const T* from, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                             std::int64_t pitch, T* to) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) to[r * stride + c] = from[r * pitch + c];
}

// The scalars of a product: element (a, b) is at[a * step_a + b * step_b].
template <class T>
struct Left {
  const T* at;
  std::int64_t step_a, step_b;
};

// `lane` numbers, loaded from anywhere. Spelled out because the compiler's own vectors of these loops are
// four times slower.
template <class T>
struct Lanes {
  typedef T Numbers __attribute__((vector_size(lane * sizeof(T)), aligned(alignof(T)), may_alias));
};

// A block of `rows` output rows shares every load of the right matrix and keeps as many sums in flight, which
// hides the latency of multiply-add.
template <int rows, class T>
SOTTO_INLINE void product_block(const Left<T>& left, const T* right, std::int64_t rows_b, std::int64_t pitch,
                                T scale, T* out) {
  using Numbers = typename Lanes<T>::Numbers;
  for (std::int64_t i = 0; i < pitch; i += lane) {
    Numbers sum[rows] = {};
    for (std::int64_t b = 0; b < rows_b; ++b) {
      const Numbers row = *reinterpret_cast<const Numbers*>(right + b * pitch + i);
      for (int r = 0; r < rows; ++r) sum[r] += left.at[r * left.step_a + b * left.step_b] * row;
    }
    for (int r = 0; r < rows; ++r) *reinterpret_cast<Numbers*>(out + r * pitch + i) = scale * sum[r];
  }
}

// out[a][:] = scale * sum_b left(a, b) * right[b][:], a < rows_a. Rows of right and out have `pitch` numbers.
template <class T>
SOTTO_INLINE void product(Left<T> left, const T* right, std::int64_t rows_a, std::int64_t rows_b,
                          std::int64_t pitch, T scale, T* out) {
  std::int64_t a = 0;
  for (; a + 4 <= rows_a; a += 4, left.at += 4 * left.step_a)
    product_block<4>(left, right, rows_b, pitch, scale, out + a * pitch);
  for (; a < rows_a; ++a, left.at += left.step_a)
    product_block<1>(left, right, rows_b, pitch, scale, out + a * pitch);
}

// Softmax over the first `keys` rows, separately for every column.
template <class T>
SOTTO_INLINE void softmax_down(T* matrix, std::int64_t keys, std::int64_t pitch) {
  for (std::int64_t i = 0; i < pitch; i += lane) {
    T top[lane], sum[lane] = {};
    for (std::int64_t k = 0; k < lane; ++k) top[k] = matrix[i + k];
    for (std::int64_t j = 1; j < keys; ++j)
      for (std::int64_t k = 0; k < lane; ++k) top[k] = std::max(top[k], matrix[j * pitch + i + k]);
    for (std::int64_t j = 0; j < keys; ++j)
      for (std::int64_t k = 0; k < lane; ++k) {
        T& value = matrix[j * pitch + i + k];
        value = std::exp(value - top[k]);
        sum[k] += value;
      }
    for (std::int64_t j = 0; j < keys; ++j)
      for (std::int64_t k = 0; k < lane; ++k) matrix[j * pitch + i + k] /= sum[k];
  }
}

// One head of one segment: L rows of `width` (the head size, padded), L x `pitch` weights.
template <class T>
struct AttentionScratch {
  std::vector<T> turned, rows_a, rows_b, rows_c, result, weights, grad;
  void resize(std::int64_t length, std::int64_t head_size, std::int64_t width, std::int64_t pitch) {
    const auto grow = [](std::vector<T>& buffer, std::int64_t size) {
      if (buffer.size() < static_cast<std::size_t>(size)) buffer.resize(static_cast<std::size_t>(size));
    };
    grow(turned, head_size * pitch);
    for (auto* buffer : {&rows_a, &rows_b, &rows_c, &result}) grow(*buffer, length * width);
    for (auto* buffer : {&weights, &grad}) grow(*buffer, length * pitch);
  }
};

template <class T>
SOTTO_INLINE void attention_forward(const AttentionForward<T>& job, std::int64_t begin, std::int64_t end) {
  thread_local AttentionScratch<T> scratch;
  const std::int64_t size = job.head_size, columns = job.heads * size, stride = 3 * columns,
                     width = padded(size);
  const T scale = T{1} / std::sqrt(static_cast<T>(size));
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t first = job.offsets[n], length = job.offsets[n + 1] - first, pitch = padded(length);
    scratch.resize(length, size, width, pitch);
    T *turned = scratch.turned.data(), *values = scratch.rows_a.data(), *weights = scratch.weights.data();
    T* result = scratch.result.data();
    for (std::int64_t h = 0; h < job.heads; ++h) {
      const T* queries = job.qkv + first * stride + h * size;
      load_transposed(queries, length, stride, size, pitch, turned);
      load_rows(queries + 2 * columns, length, stride, size, width, values);
      // S[j][i] = scale sum_d k[j][d] q[i][d];  P = softmax over j;  out[i] = sum_j P[j][i] v[j]
      product({queries + columns, stride, 1}, turned, length, size, pitch, scale, weights);
      softmax_down(weights, length, pitch);
      product({weights, 1, pitch}, values, length, length, width, T{1}, result);
      store_rows(result, length, columns, size, width, job.out + first * columns + h * size);
      store_rows(weights, length, length, length, pitch,
                 job.weights + job.weight_offsets[n] + h * length * length);
    }
  }
}

template <class T>
SOTTO_INLINE void attention_backward(const AttentionBackward<T>& job, std::int64_t begin, std::int64_t end) {
  thread_local AttentionScratch<T> scratch;
  const std::int64_t size = job.head_size, columns = job.heads * size, stride = 3 * columns,
                     width = padded(size);
  const T scale = T{1} / std::sqrt(static_cast<T>(size));
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t first = job.offsets[n], length = job.offsets[n + 1] - first, pitch = padded(length);
    scratch.resize(length, size, width, pitch);
    T *turned = scratch.turned.data(), *queries = scratch.rows_a.data(), *keys = scratch.rows_b.data();
    T *grad_out = scratch.rows_c.data(), *result = scratch.result.data();
    T *weights = scratch.weights.data(), *grad = scratch.grad.data();
    for (std::int64_t h = 0; h < job.heads; ++h) {
      const T *row = job.qkv + first * stride + h * size,
              *grad_row = job.grad_out + first * columns + h * size;
      T* to = job.grad_qkv + first * stride + h * size;
      load_rows(row, length, stride, size, width, queries);
      load_rows(row + columns, length, stride, size, width, keys);
      load_rows(grad_row, length, columns, size, width, grad_out);
      load_transposed(grad_row, length, columns, size, pitch, turned);
      load_rows(job.weights + job.weight_offsets[n] + h * length * length, length, length, length, pitch,
                weights);
      // values: gv[j] = sum_i P[j][i] g[i]
      product({weights, pitch, 1}, grad_out, length, length, width, T{1}, result);
      store_rows(result, length, stride, size, width, to + 2 * columns);
      // softmax: dP[j][i] = sum_d v[j][d] g[i][d];  dS = P * (dP - sum_j P dP)
      product({row + 2 * columns, stride, 1}, turned, length, size, pitch, T{1}, grad);
      for (std::int64_t i = 0; i < pitch; i += lane) {
        T inner[lane] = {};
        for (std::int64_t j = 0; j < length; ++j)
          for (std::int64_t k = 0; k < lane; ++k)
            inner[k] += weights[j * pitch + i + k] * grad[j * pitch + i + k];
        for (std::int64_t j = 0; j < length; ++j)
          for (std::int64_t k = 0; k < lane; ++k) {
            T& value = grad[j * pitch + i + k];
            value = weights[j * pitch + i + k] * (value - inner[k]);
          }
      }
      // queries: gq[i] = scale sum_j dS[j][i] k[j];  keys: gk[j] = scale sum_i dS[j][i] q[i]
      product({grad, 1, pitch}, keys, length, length, width, scale, result);
      store_rows(result, length, stride, size, width, to);
      product({grad, pitch, 1}, queries, length, length, width, scale, result);
      store_rows(result, length, stride, size, width, to + columns);
    }
  }
}

template <class T>
SOTTO_INLINE void pool_forward(const PoolForward<T>& job, std::int64_t begin, std::int64_t end) {
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t first = job.offsets[n], last = job.offsets[n + 1];
    T* out = job.out + n * job.columns;
    std::fill(out, out + job.columns, T{0});
    T top = -std::numeric_limits<T>::infinity(), sum = 0;
    for (std::int64_t i = first; i < last; ++i) top = std::max(top, job.scores[i]);
    for (std::int64_t i = first; i < last; ++i) sum += job.weights[i] = std::exp(job.scores[i] - top);
    for (std::int64_t i = first; i < last; ++i) {
      const T weight = job.weights[i] /= sum;
      const T* value = job.values + i * job.columns;
      for (std::int64_t c = 0; c < job.columns; ++c) out[c] += weight * value[c];
    }
  }
}

template <class T>
SOTTO_INLINE void pool_backward(const PoolBackward<T>& job, std::int64_t begin, std::int64_t end) {
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t first = job.offsets[n], last = job.offsets[n + 1];
    const T* grad = job.grad_out + n * job.columns;
    T inner = 0;
    for (std::int64_t i = first; i < last; ++i) {
      const T* value = job.values + i * job.columns;
      T* grad_value = job.grad_values + i * job.columns;
      const T weight = job.weights[i];
      T partial[lane] = {};
      std::int64_t c = 0;
      for (; c + lane <= job.columns; c += lane)
        for (std::int64_t k = 0; k < lane; ++k) {
          partial[k] += grad[c + k] * value[c + k];
          grad_value[c + k] = weight * grad[c + k];
        }
      T dot = 0;
      for (T part : partial) dot += part;
      for (; c < job.columns; ++c) {
        dot += grad[c] * value[c];
        grad_value[c] = weight * grad[c];
      }
      job.grad_scores[i] = dot;
      inner += weight * dot;
    }
    for (std::int64_t i = first; i < last; ++i)
      job.grad_scores[i] = job.weights[i] * (job.grad_scores[i] - inner);
  }
}

// One entry point per element type: function versions cannot be templates.
SOTTO_MULTIVERSION void run(const AttentionForward<float>& job, std::int64_t b, std::int64_t e) {
  attention_forward(job, b, e);
}
SOTTO_MULTIVERSION void run(const AttentionBackward<float>& job, std::int64_t b, std::int64_t e) {
  attention_backward(job, b, e);
}
SOTTO_MULTIVERSION void run(const PoolForward<float>& job, std::int64_t b, std::int64_t e) {
  pool_forward(job, b, e);
}
SOTTO_MULTIVERSION void run(const PoolBackward<float>& job, std::int64_t b, std::int64_t e) {
  pool_backward(job, b, e);
}
void run(const AttentionForward<double>& job, std::int64_t b, std::int64_t e) {
  attention_forward(job, b, e);
}
void run(const AttentionBackward<double>& job, std::int64_t b, std::int64_t e) {
  attention_backward(job, b, e);
}
void run(const PoolForward<double>& job, std::int64_t b, std::int64_t e) { pool_forward(job, b, e); }
void run(const PoolBackward<double>& job, std::int64_t b, std::int64_t e) { pool_backward(job, b, e); }

}  // namespace

template <class T>
void AttentionForward<T>::operator()(std::int64_t begin, std::int64_t end) const {
  run(*this, begin, end);
}
template <class T>
void AttentionBackward<T>::operator()(std::int64_t begin, std::int64_t end) const {
  run(*this, begin, end);
}
template <class T>
void PoolForward<T>::operator()(std::int64_t begin, std::int64_t end) const {
  run(*this, begin, end);
}
template <class T>
void PoolBackward<T>::operator()(std::int64_t begin, std::int64_t end) const {
  run(*this, begin, end);
}

template struct AttentionForward<float>;
template struct AttentionForward<double>;
template struct AttentionBackward<float>;
template struct AttentionBackward<double>;
template struct PoolForward<float>;
template struct PoolForward<double>;
template struct PoolBackward<float>;
template struct PoolBackward<double>;

}  // namespace sotto::model::ragged
