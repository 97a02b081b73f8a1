#pragma once
// Differentiable operations over ragged batches: W rows cut into N segments (titles into words, histories
// into clicks). Nothing is padded on the CPU; on CUDA, and as the reference in tests, plain padded tensor
// operations.
//
// Letters: W rows, N segments, H heads, D columns.

#include <cstdint>
#include <vector>

#include "model/cohort/user_parameters.h"
#include "model/tensor.h"

namespace sotto::model {

// Segment boundaries. offsets() is int64 [N+1] on the CPU (the kernels' and padding's view of it).
class Segments {
 public:
  // owners: whose the segments are, when users are told apart.
  explicit Segments(std::vector<std::int64_t> offsets, const Owners& owners = {});
  std::int64_t count() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
  std::int64_t rows() const { return offsets_.back(); }
  std::int64_t longest() const { return longest_; }
  const std::vector<std::int64_t>& offsets() const { return offsets_; }
  // Whose the segments, and their rows, are; null when users are not told apart.
  const Owners& owners() const { return owners_; }
  const Owners& row_owners() const { return row_owners_; }

 private:
  std::vector<std::int64_t> offsets_;
  std::int64_t longest_ = 0;
  Owners owners_, row_owners_;
};

// Scaled dot-product self-attention within each segment. qkv: [W, 3D], queries | keys | values. Returns [W,
// D].
torch::Tensor ragged_attention(const torch::Tensor& qkv, const Segments& segments, std::int64_t heads);

// Softmax of scores [W] within each segment, then the weighted sum of values [W, D]. Returns [N, D]; an empty
// segment gives zeros.
torch::Tensor ragged_pool(const torch::Tensor& scores, const torch::Tensor& values, const Segments& segments);

// The same by padding and plain operations: the CUDA path, and what the tests compare with.
torch::Tensor padded_attention(const torch::Tensor& qkv, const Segments& segments, std::int64_t heads);
torch::Tensor padded_pool(const torch::Tensor& scores, const torch::Tensor& values, const Segments& segments);

}  // namespace sotto::model
