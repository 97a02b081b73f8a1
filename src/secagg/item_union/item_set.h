#pragma once
// A device's items as every union takes them.

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/result.h"

namespace sotto {

// Sorted, each once; refuses items outside the catalogue 0 … catalogue−1.
Result<std::vector<std::uint32_t>> distinct_items(std::span<const std::uint32_t> items,
                                                  std::uint64_t catalogue);

// Item numbers have 32 bits: refuses larger catalogues, and empty ones.
Status require_catalogue(std::uint64_t catalogue);

// Uniform among the numbers 1 … mask, mask = 2^b − 1.
std::uint64_t random_nonzero(std::uint64_t mask, RandomSource& random);

}  // namespace sotto
