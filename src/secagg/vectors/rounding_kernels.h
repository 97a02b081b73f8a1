#pragma once
// The loops behind stochastic_rounding.h and update_encoding.h. Nothing is checked here.

#include <cstddef>
#include <cstdint>

namespace sotto::secagg {

// rounded_i ← floor(values_i + u_i), u_i = the 31 high bits of uniform_i over 2^31, then limited to ±bound <
// 2^31. Returns Σ rounded_i².
std::uint64_t round_randomly(const double* values, const std::uint32_t* uniform, std::size_t count,
                             double bound, std::int32_t* rounded);

// Up to rounding errors.
double sum_of_squares(const double* values, std::size_t count);

// steps_i ← update_i · factor · per_step, limited to [least, most].
struct GridScale {
  double factor = 1, per_step = 1, least = 0, most = 0;
};
void scale_to_grid(const float* update, std::size_t count, const GridScale& scale, double* steps);
void scale_to_grid(const double* update, std::size_t count, const GridScale& scale, double* steps);

}  // namespace sotto::secagg
