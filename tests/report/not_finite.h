#pragma once
// What plots must leave out.

#include <limits>

namespace sotto::report::testing {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace sotto::report::testing
