#pragma once
// The Walsh–Hadamard transform: values ← H·values with H(i, j) = (−1)^popcount(i & j), not normalised, so
// twice in a row it multiplies by the length. n log n additions, in place.

#include <span>

namespace sotto::secagg {

// The length is a power of two.
void hadamard(std::span<double> values);

}  // namespace sotto::secagg
