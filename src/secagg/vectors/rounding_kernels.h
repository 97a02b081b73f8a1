#pragma once
// The loop behind stochastic_rounding.h. Nothing is checked here.

#include <cstddef>
#include <cstdint>

namespace sotto::secagg {

// rounded_i ← floor(values_i + u_i), u_i = the 31 high bits of uniform_i over 2^31, then limited to ±bound <
// 2^31. Returns Σ rounded_i².
std::uint64_t round_randomly(const double* values, const std::uint32_t* uniform, std::size_t count,
                             double bound, std::int32_t* rounded);

}  // namespace sotto::secagg
