#pragma once
// Public hash functions of item numbers, keyed by a seed that is drawn anew for every round (Philox as the
// function). They place items; they hide nothing.

#include <array>
#include <cstdint>

#include "base/random.h"

namespace sotto {

enum class HashUse : std::uint32_t { cells = 1, check = 2, buckets = 3 };

// Four independent 32-bit words for each item, use and row.
inline std::array<std::uint32_t, 4> hash_item(std::uint64_t seed, HashUse use, std::uint32_t item,
                                              std::uint32_t row = 0) {
  return philox4x32({item, row, static_cast<std::uint32_t>(use), 0},
                    {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

// A number below n from a 32-bit word, uniform up to n/2^32.
inline std::uint32_t scale_below(std::uint32_t word, std::uint32_t n) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(word) * n) >> 32);
}

}  // namespace sotto
