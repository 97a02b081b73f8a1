#pragma once
// The union of item sets inside a secure sum at the cost of the union, not of the catalogue: a linear sketch
// over Z_2^64 that the server peels.
//
// Every item has four public cells, one in each quarter of the table. A device draws a random non-zero weight
// r for each of its items and adds (r, r·item) to the item's cells and r·h(item) to one check word, h a
// public hash. In the sum an item has one weight R, the sum of its holders' draws. A cell with a single item
// holds (R, R·item): the ratio names it, the item is taken out of its other cells, and so on until the table
// is empty.
//
// Why this and not an invertible Bloom table with counts: a count is the number of holders, which nobody
// asked for. R is uniform whoever and however many hold the item (up to 2^-64), so table and union tell the
// same. Why not odd weights, which always can be inverted: their sums tell whether the number of holders is
// odd. Why Z_2^64 and not a prime field: the secure sum is modulo 2^b. Dividing by R = 2^v·odd leaves item
// modulo 2^(64−v), enough unless v > 64 − log₂(catalogue): with 10^6 items 2^-45 per item, and then it is
// reported, not guessed.
//
// Decoding fails, and says so, when the union is larger than the capacity or the four cells of a few items
// coincide: try again with another seed and more room. A wrong answer that is not noticed has a chance of at
// most 5·2^-58 per cell, about 2^-45 for a union of a thousand items, whatever the catalogue.
//
// Immutable, safe to share between threads.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "privacy/noise/device_random.h"

namespace sotto::secagg {

class SparseUnion {
 public:
  struct Settings {
    std::uint64_t catalogue = 0;
    std::uint64_t capacity = 0;  // items of the union to make room for
    std::uint64_t seed = 0;      // public, fresh for every attempt
  };
  static Result<SparseUnion> create(const Settings& settings);

  // entries() words modulo 2^64. Fresh randomness for every attempt.
  Result<std::vector<std::uint64_t>> encode(std::span<const std::uint32_t> items,
                                            privacy::DeviceRandom random) const;
  // Ascending. ErrorKind::failed: not decodable, try again with more room.
  Result<std::vector<std::uint32_t>> decode(std::span<const std::uint64_t> sum) const;

  std::uint64_t entries() const { return 2 * cells() + 1; }
  std::size_t bytes_per_device() const { return 8 * entries(); }

 private:
  friend class SparseUnionPeeling;
  static constexpr std::uint32_t quarters = 4;
  SparseUnion(const Settings& settings, std::uint32_t quarter) : settings_(settings), quarter_(quarter) {}
  std::uint64_t cells() const { return std::uint64_t{quarters} * quarter_; }
  std::array<std::uint64_t, quarters> cells_of(std::uint32_t item) const;
  std::uint64_t check_of(std::uint32_t item) const;
  Settings settings_;
  std::uint32_t quarter_;  // cells in a quarter
};

}  // namespace sotto::secagg
