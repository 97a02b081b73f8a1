#include "device/rank/pool_kernels.h"

#include "base/isa.h"

namespace sotto::device {

SOTTO_MULTIVERSION void score_rows(const std::int8_t* numbers, const float* scales, std::size_t rows,
                                   std::size_t columns, const float* user, float* out) {
  for (std::size_t row = 0; row < rows; ++row) {
    float sum = 0;
    for (std::size_t j = 0; j < columns; ++j) sum += static_cast<float>(numbers[j]) * user[j];
    out[row] = scales[row] * sum;
    numbers += columns;
  }
}

}  // namespace sotto::device
