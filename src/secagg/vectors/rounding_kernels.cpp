#include "secagg/vectors/rounding_kernels.h"

#include <cmath>

#include "base/isa.h"

namespace sotto::secagg {

SOTTO_MULTIVERSION std::uint64_t round_randomly(const double* values, const std::uint32_t* uniform,
                                                std::size_t count, double bound, std::int32_t* rounded) {
  std::uint64_t squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double moved = std::floor(values[i] + static_cast<std::int32_t>(uniform[i] >> 1) * 0x1.0p-31);
    const double below = moved < bound ? moved : bound;
    const auto whole = static_cast<std::int32_t>(below > -bound ? below : -bound);
    rounded[i] = whole;
    squares += static_cast<std::uint64_t>(static_cast<std::int64_t>(whole) * whole);
  }
  return squares;
}

SOTTO_MULTIVERSION double sum_of_squares(const double* values, std::size_t count) {
  constexpr std::size_t lanes = 16;
  double sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (std::size_t j = 0; j < lanes; ++j) sums[j] += values[i + j] * values[i + j];
  for (std::size_t j = 0; i + j < count; ++j) sums[j] += values[i + j] * values[i + j];
  double sum = 0;
  for (const double own : sums) sum += own;
  return sum;
}

namespace {

template <class Number>
SOTTO_INLINE void scaled(const Number* update, std::size_t count, const GridScale& scale, double* steps) {
  const double factor = scale.factor, per_step = scale.per_step, least = scale.least, most = scale.most;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = update[i] * factor * per_step;
    const double below = value < most ? value : most;
    steps[i] = below > least ? below : least;
  }
}

}  // namespace

SOTTO_MULTIVERSION void scale_to_grid(const float* update, std::size_t count, const GridScale& scale,
                                      double* steps) {
  scaled(update, count, scale, steps);
}

SOTTO_MULTIVERSION void scale_to_grid(const double* update, std::size_t count, const GridScale& scale,
                                      double* steps) {
  scaled(update, count, scale, steps);
}

}  // namespace sotto::secagg
