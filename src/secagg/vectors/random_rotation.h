#pragma once
// A public random rotation that spreads a vector evenly over its coordinates: afterwards no entry is much
// larger than norm/√d, so few bits per entry are enough.
//
// One step is x ← H·(signs·x)/√n over n = 2^k coordinates with public random signs. A vector whose length d
// is no power of two would have to be padded to nearly twice its size; instead two steps overlap, over the
// first and then over the last 2^k coordinates, 2^k <= d < 2^(k+1). Each is orthogonal, so is their product:
// nothing is padded, norms are kept, and every coordinate is a mix of more than d/2 others.
//
// After one step an entry of a vector of norm S exceeds t with probability at most 2·exp(−t²n/(2S²)) over the
// signs (Hoeffding). The signs protect nobody: the server knows the seed.
//
// Immutable, safe to share between threads.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace sotto::secagg {

class RandomRotation {
 public:
  static Result<RandomRotation> create(std::uint64_t dimension, std::uint64_t seed);

  Status rotate(std::span<double> values) const;
  Status rotate_back(std::span<double> values) const;
  std::uint64_t dimension() const { return dimension_; }
  // What rotate() does, for who does it elsewhere: step 0 over the first block() coordinates, then step 1
  // over the last unless the first are all; each x ← H·(signs·x)/√block() with these signs, ±1.
  std::uint64_t block() const { return block_; }
  std::vector<double> signs(std::uint32_t step) const;
  // A magnitude that an entry of a rotated vector of norm 1 exceeds with at most this probability
  // (Hoeffding).
  double entry_quantile(double probability) const;

 private:
  RandomRotation(std::uint64_t dimension, std::uint64_t seed);
  std::uint64_t dimension_;
  std::uint64_t seed_;
  std::uint64_t block_;  // n
};

}  // namespace sotto::secagg
