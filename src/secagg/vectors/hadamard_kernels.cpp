#include <cstddef>

#include "base/isa.h"
#include "secagg/vectors/hadamard.h"

namespace sotto::secagg {

namespace {

constexpr std::size_t in_cache = std::size_t{1} << 12;  // 32 KiB of doubles

// Two levels of the transform at once, between the four quarters of each block of 4·stride values: half the
// passes over memory.
SOTTO_INLINE void two_levels(double* values, std::size_t length, std::size_t stride) {
  for (std::size_t block = 0; block < length; block += 4 * stride) {
    double *first = values + block, *second = first + stride, *third = second + stride,
           *fourth = third + stride;
    for (std::size_t i = 0; i < stride; ++i) {
      const double a = first[i] + second[i], b = first[i] - second[i];
      const double c = third[i] + fourth[i], d = third[i] - fourth[i];
      first[i] = a + c;
      second[i] = b + d;
      third[i] = a - c;
      fourth[i] = b - d;
    }
  }
}

SOTTO_INLINE void one_level(double* values, std::size_t length, std::size_t stride) {
  for (std::size_t block = 0; block < length; block += 2 * stride) {
    double *first = values + block, *second = first + stride;
    for (std::size_t i = 0; i < stride; ++i) {
      const double a = first[i], b = second[i];
      first[i] = a + b;
      second[i] = a - b;
    }
  }
}

SOTTO_MULTIVERSION void transform_in_cache(double* values, std::size_t length) {
  std::size_t stride = 1;
  for (; 4 * stride <= length; stride *= 4) two_levels(values, length, stride);
  if (stride < length) one_level(values, length, stride);
}

SOTTO_MULTIVERSION void mix_quarters(double* values, std::size_t length) {
  two_levels(values, length, length / 4);
}

// Outer levels first, so that each quarter is finished while it is in the cache.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the length has pairs of bits
void transform(double* values, std::size_t length) {
  if (length <= in_cache) return transform_in_cache(values, length);
  mix_quarters(values, length);
  for (std::size_t quarter = 0; quarter < 4; ++quarter)
    transform(values + quarter * (length / 4), length / 4);
}

}  // namespace

void hadamard(std::span<double> values) { transform(values.data(), values.size()); }

}  // namespace sotto::secagg
