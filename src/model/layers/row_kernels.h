#pragma once
// CPU kernels over the rows of a ragged batch (no torch): word windows and dropout.

#include <cstdint>

namespace sotto::model::ragged {

// out[i] = x[i-1] | x[i] | x[i+1], with zeros beyond the ends of the segment. x: W x D, out: W x 3D.
template <class T>
void window_forward(const T* x, const std::int64_t* offsets, std::int64_t columns, std::int64_t begin,
                    std::int64_t end, T* out);
template <class T>
void window_backward(const T* grad_out, const std::int64_t* offsets, std::int64_t columns, std::int64_t begin,
                     std::int64_t end, T* grad_x);

// table[rows[i]] += grad[i] for the rows in [first, last) of the table: threads own ranges of the table, so
// the order of additions, and with it every bit of the result, does not depend on their number.
template <class T>
void scatter_add(const T* grad, const std::int64_t* rows, std::int64_t count, std::int64_t columns,
                 std::int64_t first, std::int64_t last, T* table);

// out[i] = x[i] / (1 - rate) where a hash of (seed, i) keeps element i, else 0. The mask is a function of the
// seed and the index alone: the backward pass is the same call on the gradient, and threads do not matter.
template <class T>
void dropout(const T* x, std::uint64_t seed, double rate, std::int64_t begin, std::int64_t end, T* out);

}  // namespace sotto::model::ragged
