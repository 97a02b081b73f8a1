#include <limits>

#include "base/isa.h"
#include "serving/index/segment.h"

namespace sotto::serving {

SOTTO_MULTIVERSION double exact_scores(const Term* terms, const double* coefficients, std::size_t count,
                                       const float* columns, double* scores) {
  constexpr std::size_t tile = 32;  // sums that stay in registers
  double lanes[tile];
  for (double& lane : lanes) lane = -std::numeric_limits<double>::infinity();
  for (std::size_t first = 0; first < block_rows; first += tile) {
    double sums[tile] = {};
    for (std::size_t t = 0; t < count; ++t) {
      const float* column = columns + terms[t].dimension * block_rows + first;
      const double coefficient = coefficients[t];
      for (std::size_t j = 0; j < tile; ++j) sums[j] += coefficient * static_cast<double>(column[j]);
    }
    for (std::size_t j = 0; j < tile; ++j) {
      scores[first + j] = sums[j];
      lanes[j] = sums[j] > lanes[j] ? sums[j] : lanes[j];
    }
  }
  double largest = lanes[0];
  for (const double lane : lanes) largest = lane > largest ? lane : largest;
  return largest;
}

}  // namespace sotto::serving
