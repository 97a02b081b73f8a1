#include "serving/dot_kernels.h"

#include "base/isa.h"

namespace sotto::serving {

// Sixty-four sums side by side hide the latency of the additions.
SOTTO_MULTIVERSION float dot(const float* left, const float* right, std::size_t size) {
  constexpr std::size_t lanes = 64;
  float sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) sums[j] += left[i + j] * right[i + j];
  }
  float sum = 0;
  for (; i < size; ++i) sum += left[i] * right[i];
  for (const float part : sums) sum += part;
  return sum;
}

}  // namespace sotto::serving
