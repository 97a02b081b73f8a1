#include "serving/index/scan_kernels.h"

#include "base/isa.h"

namespace sotto::serving {

namespace {

// Sums stay in registers over all terms: 64 floats are four of the widest.
constexpr std::size_t tile = 64;

SOTTO_INLINE void add_terms(const Term* terms, std::size_t count, const float* columns, std::size_t stride,
                            float* sums) {
  for (std::size_t j = 0; j < tile; ++j) sums[j] = 0;
  for (std::size_t t = 0; t < count; ++t) {
    const float* column = columns + terms[t].dimension * stride;
    const float coefficient = terms[t].coefficient;
    for (std::size_t j = 0; j < tile; ++j) sums[j] += coefficient * column[j];
  }
}

}  // namespace

SOTTO_MULTIVERSION float quick_scores(const Term* terms, std::size_t count, const float* columns,
                                      float* quick) {
  float largest = -3e38F;
  for (std::size_t first = 0; first < block_rows; first += tile) {
    float sums[tile];
    add_terms(terms, count, columns + first, block_rows, sums);
    for (std::size_t j = 0; j < tile; ++j) {
      quick[first + j] = sums[j];
      largest = sums[j] > largest ? sums[j] : largest;
    }
  }
  return largest;
}

SOTTO_MULTIVERSION float add_code_scores(const Term* terms, std::size_t count, const std::uint16_t* codes,
                                         float* quick) {
  float largest = -3e38F;
  for (std::size_t first = 0; first < block_rows; first += tile) {
    float sums[tile];
    for (std::size_t j = 0; j < tile; ++j) sums[j] = quick[first + j];
    for (std::size_t t = 0; t < count; ++t) {
      const std::uint16_t* column = codes + terms[t].dimension * block_rows + first;
      const float coefficient = terms[t].coefficient;
      for (std::size_t j = 0; j < tile; ++j) sums[j] += coefficient * static_cast<float>(column[j]);
    }
    for (std::size_t j = 0; j < tile; ++j) {
      quick[first + j] = sums[j];
      largest = sums[j] > largest ? sums[j] : largest;
    }
  }
  return largest;
}

SOTTO_MULTIVERSION void upper_bounds(const Term* terms, std::size_t count, const float* highest,
                                     const float* lowest, float* bounds) {
  static_assert(group_blocks == tile);
  for (std::size_t j = 0; j < tile; ++j) bounds[j] = 0;
  for (std::size_t t = 0; t < count; ++t) {
    const float coefficient = terms[t].coefficient;
    const float* column = (coefficient > 0 ? highest : lowest) + terms[t].dimension * group_blocks;
    for (std::size_t j = 0; j < tile; ++j) bounds[j] += coefficient * column[j];
  }
}

}  // namespace sotto::serving
