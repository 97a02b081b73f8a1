#pragma once
// Portable distributions over any RandomSource (the standard library's differ between implementations).
// For simulation, sampling and initialisation. Privacy noise lives in src/privacy.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"

namespace sotto {

// Uniform in [0, 1) with 53 bits.
inline double uniform01(RandomSource& random) { return static_cast<double>(random() >> 11) * 0x1.0p-53; }

// Uniform in (0, 1]: safe under log.
inline double uniform_open01(RandomSource& random) { return 1.0 - uniform01(random); }

// Uniform integer in [0, n), unbiased (Lemire 2019). n > 0.
inline std::uint64_t uniform_below(RandomSource& random, std::uint64_t n) {
  __uint128_t product = static_cast<__uint128_t>(random()) * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t threshold = (0 - n) % n;
    while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<__uint128_t>(random()) * n;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

inline bool bernoulli(RandomSource& random, double p) { return uniform01(random) < p; }

inline double exponential(RandomSource& random) { return -std::log(uniform_open01(random)); }

// Standard normal (Box-Muller, one of the pair).
inline double normal(RandomSource& random) {
  const double radius = std::sqrt(2.0 * exponential(random));
  return radius * std::cos(2.0 * std::numbers::pi * uniform01(random));
}

template <class T>
void shuffle(std::span<T> values, RandomSource& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[uniform_below(random, i)]);
}

// k distinct numbers of [0, n) in random order, by a partial Fisher-Yates over a sparse permutation. k <= n.
std::vector<std::uint32_t> sample_without_replacement(std::uint32_t n, std::uint32_t k, RandomSource& random);

}  // namespace sotto
