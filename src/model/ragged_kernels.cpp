#include "model/ragged_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/isa.h"

// Inside a segment everything is stored transposed, one row per head dimension or key, padded to a multiple
// of `lane` queries: the innermost loop always runs over queries (or keys), is a multiple of the vector width
// and has a broadcast scalar as its other operand, so the compiler turns it into plain vector code.

namespace sotto::ragged {
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

template <class T>
SOTTO_INLINE void store_transposed(const T* from, std::int64_t rows, std::int64_t stride,
                                   std::int64_t columns, std::int64_t pitch, T* to) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) to[r * stride + c] = from[c * pitch + r];
}

// A block of `rows` output rows shares every load of the right matrix and keeps as many sums in flight, which
// hides the latency of multiply-add. left(a, b) is left[a * step_a + b * step_b].
template <int rows, class T>
SOTTO_INLINE void product_block(const T* left, std::int64_t step_a, std::int64_t step_b, const T* right,
                                std::int64_t rows_b, std::int64_t pitch, T scale, T* out) {
  for (std::int64_t i = 0; i < pitch; i += lane) {
    T sum[rows][lane] = {};
    for (std::int64_t b = 0; b < rows_b; ++b) {
      const T* row = right + b * pitch + i;
      for (int r = 0; r < rows; ++r) {
        const T factor = left[r * step_a + b * step_b];
        for (std::int64_t k = 0; k < lane; ++k) sum[r][k] += factor * row[k];
      }
    }
    for (int r = 0; r < rows; ++r)
      for (std::int64_t k = 0; k < lane; ++k) out[r * pitch + i + k] = scale * sum[r][k];
  }
}

// out[a][:] = scale * sum_b left(a, b) * right[b][:], a < rows_a.
template <class T>
SOTTO_INLINE void product_steps(const T* left, std::int64_t step_a, std::int64_t step_b, const T* right,
                                std::int64_t rows_a, std::int64_t rows_b, std::int64_t pitch, T scale,
                                T* out) {
  std::int64_t a = 0;
  for (; a + 4 <= rows_a; a += 4)
    product_block<4>(left + a * step_a, step_a, step_b, right, rows_b, pitch, scale, out + a * pitch);
  for (; a < rows_a; ++a)
    product_block<1>(left + a * step_a, step_a, step_b, right, rows_b, pitch, scale, out + a * pitch);
}

// The left matrix transposed (its rows run over b), or plain (its rows run over a).
template <class T>
SOTTO_INLINE void product(const T* left, const T* right, std::int64_t rows_a, std::int64_t rows_b,
                          std::int64_t pitch, T scale, T* out) {
  product_steps(left, 1, pitch, right, rows_a, rows_b, pitch, scale, out);
}
template <class T>
SOTTO_INLINE void product_plain(const T* left, const T* right, std::int64_t rows_a, std::int64_t rows_b,
                                std::int64_t pitch, T scale, T* out) {
  product_steps(left, pitch, 1, right, rows_a, rows_b, pitch, scale, out);
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

template <class T>
struct AttentionScratch {
  std::vector<T> q, k, v, a, b, c, d, e;
  void resize(std::int64_t head_size, std::int64_t pitch) {
    const auto vectors = static_cast<std::size_t>(head_size * pitch),
               square = static_cast<std::size_t>(pitch * pitch);
    for (auto* buffer : {&q, &k, &v, &a, &b}) buffer->resize(std::max(buffer->size(), vectors));
    for (auto* buffer : {&c, &d, &e}) buffer->resize(std::max(buffer->size(), square));
  }
};

template <class T>
SOTTO_INLINE void attention_forward(const AttentionForward<T>& job, std::int64_t begin, std::int64_t end) {
  thread_local AttentionScratch<T> scratch;
  const std::int64_t columns = job.heads * job.head_size;
  const T scale = T{1} / std::sqrt(static_cast<T>(job.head_size));
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t first = job.offsets[n], length = job.offsets[n + 1] - first, pitch = padded(length);
    scratch.resize(job.head_size, pitch);
    for (std::int64_t h = 0; h < job.heads; ++h) {
      const T* row = job.qkv + first * 3 * columns + h * job.head_size;
      load_transposed(row, length, 3 * columns, job.head_size, pitch, scratch.q.data());
      load_transposed(row + columns, length, 3 * columns, job.head_size, pitch, scratch.k.data());
      load_transposed(row + 2 * columns, length, 3 * columns, job.head_size, pitch, scratch.v.data());
      product(scratch.k.data(), scratch.q.data(), length, job.head_size, pitch, scale, scratch.c.data());
      softmax_down(scratch.c.data(), length, pitch);
      product_plain(scratch.v.data(), scratch.c.data(), job.head_size, length, pitch, T{1}, scratch.a.data());
      store_transposed(scratch.a.data(), length, columns, job.head_size, pitch,
                       job.out + first * columns + h * job.head_size);
      T* kept = job.weights + job.weight_offsets[n] + h * length * length;
      for (std::int64_t j = 0; j < length; ++j)
        std::copy_n(scratch.c.data() + j * pitch, length, kept + j * length);
    }
  }
}

template <class T>
SOTTO_INLINE void attention_backward(const AttentionBackward<T>& job, std::int64_t begin, std::int64_t end) {
  thread_local AttentionScratch<T> scratch;
  const std::int64_t columns = job.heads * job.head_size;
  const T scale = T{1} / std::sqrt(static_cast<T>(job.head_size));
  for (std::int64_t n = begin; n < end; ++n) {
    const std::int64_t first = job.offsets[n], length = job.offsets[n + 1] - first, pitch = padded(length);
    scratch.resize(job.head_size, pitch);
    T *weights = scratch.c.data(), *grad = scratch.d.data(), *turned = scratch.e.data();
    T *grad_out = scratch.a.data(), *result = scratch.b.data();
    for (std::int64_t h = 0; h < job.heads; ++h) {
      const T* row = job.qkv + first * 3 * columns + h * job.head_size;
      T* grad_row = job.grad_qkv + first * 3 * columns + h * job.head_size;
      load_transposed(row, length, 3 * columns, job.head_size, pitch, scratch.q.data());
      load_transposed(row + columns, length, 3 * columns, job.head_size, pitch, scratch.k.data());
      load_transposed(row + 2 * columns, length, 3 * columns, job.head_size, pitch, scratch.v.data());
      load_transposed(job.grad_out + first * columns + h * job.head_size, length, columns, job.head_size,
                      pitch, grad_out);
      const T* kept = job.weights + job.weight_offsets[n] + h * length * length;
      std::fill(weights, weights + pitch * pitch, T{0});
      std::fill(turned, turned + pitch * pitch, T{0});
      for (std::int64_t j = 0; j < length; ++j) {
        std::copy_n(kept + j * length, length, weights + j * pitch);
        for (std::int64_t i = 0; i < length; ++i) turned[i * pitch + j] = kept[j * length + i];
      }
      // values: gv[d][j] = sum_i g[d][i] P[i][j]
      product_plain(grad_out, turned, job.head_size, length, pitch, T{1}, result);
      store_transposed(result, length, 3 * columns, job.head_size, pitch, grad_row + 2 * columns);
      // softmax: dP[j][i] = sum_d v[d][j] g[d][i];  dS = P * (dP - sum_j P dP)
      product(scratch.v.data(), grad_out, length, job.head_size, pitch, T{1}, grad);
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
      for (std::int64_t j = 0; j < length; ++j)
        for (std::int64_t i = 0; i < length; ++i) turned[i * pitch + j] = grad[j * pitch + i];
      // queries: gq[d][i] = scale sum_j k[d][j] dS[j][i];  keys: gk[d][j] = scale sum_i q[d][i] dS[i][j]
      product_plain(scratch.k.data(), grad, job.head_size, length, pitch, scale, result);
      store_transposed(result, length, 3 * columns, job.head_size, pitch, grad_row);
      product_plain(scratch.q.data(), turned, job.head_size, length, pitch, scale, result);
      store_transposed(result, length, 3 * columns, job.head_size, pitch, grad_row + columns);
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

}  // namespace sotto::ragged
