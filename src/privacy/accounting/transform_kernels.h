#pragma once
// The loops of real_transform.h: real and imaginary parts lie apart, so that they are loops over vectors.

#include <cstddef>

namespace sotto::privacy {

struct SplitNumbers {
  double* real;
  double* imaginary;
};

// One Stockham stage of four: `parts` sub-transforms of length 4·quarter become four times as many of length
// `quarter`. circle: e^{−2πik/N} for k < N = 4 · quarter · parts.
void transform_by_four(SplitNumbers from, SplitNumbers to, SplitNumbers circle, std::size_t quarter,
                       std::size_t parts);
// The last stage where the length is no power of four: `parts` transforms of length 2.
void transform_by_two(SplitNumbers from, SplitNumbers to, std::size_t parts);

}  // namespace sotto::privacy
