#pragma once
// CPU kernels over ragged batches (no torch). A ragged batch is W rows cut into segments by offsets[0..N]:
// the words of a title, the clicks of a history. Segments are independent; no row is padding.
//
// Letters: W rows, N segments, L length of a segment, H heads, D = H * head size columns.

#include <cstdint>

namespace sotto::model::ragged {

// Self-attention inside each segment [begin, end). qkv is W x 3D (queries | keys | values), out is W x D.
// weights keeps the softmax for the backward pass: segment n, head h at weight_offsets[n] + h*L*L, an L x L
// matrix stored key-major (row j holds the weights of key j for all queries).
template <class T>
struct AttentionForward {
  const T* qkv;
  const std::int64_t* offsets;
  const std::int64_t* weight_offsets;
  std::int64_t heads, head_size;
  T* weights;
  T* out;
  void operator()(std::int64_t begin, std::int64_t end) const;
};

template <class T>
struct AttentionBackward {
  const T* qkv;
  const T* weights;
  const T* grad_out;
  const std::int64_t* offsets;
  const std::int64_t* weight_offsets;
  std::int64_t heads, head_size;
  T* grad_qkv;
  void operator()(std::int64_t begin, std::int64_t end) const;
};

// out[n] = sum over rows i of segment n of softmax(scores)_i * values[i]; an empty segment gives zeros.
template <class T>
struct PoolForward {
  const T* scores;  // W
  const T* values;  // W x D
  const std::int64_t* offsets;
  std::int64_t columns;
  T* weights;  // W: the softmax, kept for the backward pass
  T* out;      // N x D
  void operator()(std::int64_t begin, std::int64_t end) const;
};

template <class T>
struct PoolBackward {
  const T* values;
  const T* weights;
  const T* grad_out;  // N x D
  const std::int64_t* offsets;
  std::int64_t columns;
  T* grad_scores;
  T* grad_values;
  void operator()(std::int64_t begin, std::int64_t end) const;
};

}  // namespace sotto::model::ragged
