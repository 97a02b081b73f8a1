#include "model/layers/row_kernels.h"

#include <algorithm>

#include "base/isa.h"

namespace sotto::model::ragged {

template <class T>
void window_forward(const T* x, const std::int64_t* offsets, std::int64_t columns, std::int64_t begin,
                    std::int64_t end, T* out) {
  for (std::int64_t n = begin; n < end; ++n)
    for (std::int64_t i = offsets[n]; i < offsets[n + 1]; ++i) {
      T* to = out + i * 3 * columns;
      const T* row = x + i * columns;
      if (i > offsets[n])
        std::copy_n(row - columns, columns, to);
      else
        std::fill_n(to, columns, T{0});
      std::copy_n(row, columns, to + columns);
      if (i + 1 < offsets[n + 1])
        std::copy_n(row + columns, columns, to + 2 * columns);
      else
        std::fill_n(to + 2 * columns, columns, T{0});
    }
}

template <class T>
void window_backward(const T* grad_out, const std::int64_t* offsets, std::int64_t columns, std::int64_t begin,
                     std::int64_t end, T* grad_x) {
  for (std::int64_t n = begin; n < end; ++n)
    for (std::int64_t i = offsets[n]; i < offsets[n + 1]; ++i) {
      const T* own = grad_out + i * 3 * columns;
      T* to = grad_x + i * columns;
      std::copy_n(own + columns, columns, to);
      if (i > offsets[n])  // this row is the right neighbour of the one before
        for (std::int64_t c = 0; c < columns; ++c) to[c] += (own - 3 * columns)[2 * columns + c];
      if (i + 1 < offsets[n + 1])  // and the left neighbour of the next
        for (std::int64_t c = 0; c < columns; ++c) to[c] += (own + 3 * columns)[c];
    }
}

template <class T>
void scatter_add(const T* grad, const std::int64_t* rows, std::int64_t count, std::int64_t columns,
                 std::int64_t first, std::int64_t last, T* table) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (rows[i] < first || rows[i] >= last) continue;
    T* to = table + rows[i] * columns;
    const T* from = grad + i * columns;
    for (std::int64_t c = 0; c < columns; ++c) to[c] += from[c];
  }
}

namespace {

template <class T>
SOTTO_INLINE void dropout_loop(const T* x, std::uint32_t low, std::uint32_t high, std::uint32_t threshold,
                               T scale, std::int64_t begin, std::int64_t end, T* out) {
  for (std::int64_t i = begin; i < end; ++i) {
    // Two rounds of a 32-bit finaliser keyed by both halves of the seed: ample for dropout, and it
    // vectorises.
    std::uint32_t h = static_cast<std::uint32_t>(i) ^ low;
    h = (h ^ (h >> 16)) * 0x7feb352dU;
    h = (h ^ (h >> 15)) * 0x846ca68bU;
    h = (h ^ (h >> 16)) + high;
    h = (h ^ (h >> 16)) * 0x7feb352dU;
    h = (h ^ (h >> 15)) * 0x846ca68bU;
    h ^= h >> 16;
    const T factor = h < threshold ? T{0} : scale;
    out[i] = x[i] * factor;
  }
}

SOTTO_MULTIVERSION void run(const float* x, std::uint32_t low, std::uint32_t high, std::uint32_t threshold,
                            float scale, std::int64_t begin, std::int64_t end, float* out) {
  dropout_loop(x, low, high, threshold, scale, begin, end, out);
}
void run(const double* x, std::uint32_t low, std::uint32_t high, std::uint32_t threshold, double scale,
         std::int64_t begin, std::int64_t end, double* out) {
  dropout_loop(x, low, high, threshold, scale, begin, end, out);
}

}  // namespace

template <class T>
void dropout(const T* x, std::uint64_t seed, double rate, std::int64_t begin, std::int64_t end, T* out) {
  run(x, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
      static_cast<std::uint32_t>(rate * 4294967296.0), static_cast<T>(1.0 / (1.0 - rate)), begin, end, out);
}

template void window_forward(const float*, const std::int64_t*, std::int64_t, std::int64_t, std::int64_t,
                             float*);
template void window_forward(const double*, const std::int64_t*, std::int64_t, std::int64_t, std::int64_t,
                             double*);
template void window_backward(const float*, const std::int64_t*, std::int64_t, std::int64_t, std::int64_t,
                              float*);
template void window_backward(const double*, const std::int64_t*, std::int64_t, std::int64_t, std::int64_t,
                              double*);
template void scatter_add(const float*, const std::int64_t*, std::int64_t, std::int64_t, std::int64_t,
                          std::int64_t, float*);
template void scatter_add(const double*, const std::int64_t*, std::int64_t, std::int64_t, std::int64_t,
                          std::int64_t, double*);
template void dropout(const float*, std::uint64_t, double, std::int64_t, std::int64_t, float*);
template void dropout(const double*, std::uint64_t, double, std::int64_t, std::int64_t, double*);

}  // namespace sotto::model::ragged
