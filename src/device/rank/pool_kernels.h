#pragma once
// Scores of quantised item vectors: the one hot loop of ranking on the device.

#include <cstddef>
#include <cstdint>

namespace sotto::device {

// out[i] = scales[i] * Σ_j numbers[i * columns + j] * user[j]
void score_rows(const std::int8_t* numbers, const float* scales, std::size_t rows, std::size_t columns,
                const float* user, float* out);

}  // namespace sotto::device
