#pragma once
// Refusals that every mechanism shares. Each message says what is wrong and what is allowed; NaN is always
// refused.

#include <cstdint>

#include "base/result.h"

namespace sotto {

Status require_epsilon(double epsilon);                   // finite, above 0
Status require_delta(double delta);                       // strictly between 0 and 1
Status require_padding(double probability);               // 0 <= p < 1: with p = 1 nothing is left to release
Status require_positive(double value, const char* what);  // finite, above 0
Status require_at_least(std::uint64_t value, std::uint64_t smallest, const char* what);
Status require_length(std::size_t length, std::uint64_t dimension, const char* what);

}  // namespace sotto
