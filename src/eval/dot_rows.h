#pragma once
// Scores of many items for one user: dot products with rows picked from a matrix.

#include <cstddef>
#include <cstdint>
#include <span>

namespace sotto::eval {

// scores[j] = <user, matrix row rows[j]>. matrix is N x d row-major and user holds d values; every row number
// is below N. The order of summation depends on the processor's vector width; nothing else does.
void dot_rows(const float* user, const float* matrix, std::size_t d, std::span<const std::uint32_t> rows,
              float* scores);

}  // namespace sotto::eval
