#include "eval/dot_rows.h"

#include "base/isa.h"

namespace sotto::eval {

namespace {

// Sixteen floats as one value; loads need no alignment. The compiler splits them to what the processor has.
using Lanes = float __attribute__((vector_size(64)));
using UnalignedLanes = float __attribute__((vector_size(64), aligned(4), may_alias));
constexpr std::size_t lane_count = 16;

}  // namespace

SOTTO_MULTIVERSION
void dot_rows(const float* user, const float* matrix, std::size_t d, std::span<const std::uint32_t> rows,
              float* scores) {
  constexpr std::size_t cache_line = 16;  // floats
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const float* row = matrix + std::size_t{rows[j]} * d;
    // Rows are scattered over far more memory than the caches hold: the next one is fetched while this one is
    // summed.
    const float* next = j + 1 < rows.size() ? matrix + std::size_t{rows[j + 1]} * d : row;
    Lanes sum0 = {}, sum1 = {};
    std::size_t k = 0;
    for (; k + 2 * lane_count <= d; k += 2 * lane_count) {
      __builtin_prefetch(next + k);
      __builtin_prefetch(next + k + cache_line);
      sum0 += *reinterpret_cast<const UnalignedLanes*>(user + k) *
              *reinterpret_cast<const UnalignedLanes*>(row + k);
      sum1 += *reinterpret_cast<const UnalignedLanes*>(user + k + lane_count) *
              *reinterpret_cast<const UnalignedLanes*>(row + k + lane_count);
    }
    sum0 += sum1;
    float score = 0;
    for (std::size_t lane = 0; lane < lane_count; ++lane) score += sum0[lane];
    for (; k < d; ++k) score += user[k] * row[k];
    scores[j] = score;
  }
}

}  // namespace sotto::eval
