#pragma once
// A device's items as every union takes them.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/result.h"

namespace sotto::secagg {

// Sorted, each once; refuses items outside the catalogue 0 … catalogue−1.
Result<std::vector<std::uint32_t>> distinct_items(std::span<const std::uint32_t> items,
                                                  std::uint64_t catalogue);

// Item numbers have 32 bits: refuses larger catalogues, and empty ones.
Status require_catalogue(std::uint64_t catalogue);

// Uniform among the numbers 1 … mask, mask = 2^b − 1.
std::uint64_t random_nonzero(std::uint64_t mask, RandomSource& random);

// Public hash functions of item numbers, keyed by a seed that is drawn anew for every round (Philox as the
// function). They place items; they hide nothing.
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

}  // namespace sotto::secagg
