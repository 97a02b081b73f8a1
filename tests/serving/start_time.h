#pragma once
// When the servers of these tests begin.

#include <cstdint>

namespace sotto::serving::testing {

inline constexpr std::int64_t start_time = 1'700'000'000;

}  // namespace sotto::serving::testing
