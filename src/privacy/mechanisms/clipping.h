#pragma once
// Bounds on what one person can contribute. After each function the stated norm, taken in real numbers, is at
// most `bound`: results are shrunk by the rounding error of the norm's own computation. Each returns the norm
// before clipping and refuses vectors with NaN or infinity, which no scaling brings back.

#include <span>

#include "base/result.h"

namespace sotto {

Result<double> clip_l2(std::span<double> values, double bound);
Result<double> clip_l1(std::span<double> values, double bound);
// Every coordinate into [-bound, bound]; returns the largest magnitude.
Result<double> clip_coordinates(std::span<double> values, double bound);

}  // namespace sotto
