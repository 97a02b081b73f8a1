#include "secagg/vectors/rounding_kernels.h"

#include <cmath>

#include "base/isa.h"

namespace sotto::secagg {

SOTTO_MULTIVERSION std::uint64_t round_randomly(const double* values, const std::uint32_t* uniform,
                                                std::size_t count, double bound, std::int32_t* rounded) {
  std::int64_t squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double moved = std::floor(values[i] + static_cast<std::int32_t>(uniform[i] >> 1) * 0x1.0p-31);
    const double below = moved < bound ? moved : bound;
    const auto whole = static_cast<std::int32_t>(below > -bound ? below : -bound);
    rounded[i] = whole;
    squares += static_cast<std::int64_t>(whole) * whole;
  }
  return static_cast<std::uint64_t>(squares);
}

}  // namespace sotto::secagg
