#include "base/distributions.h"

#include <bit>
#include <cassert>

namespace sotto {

namespace {

// The entries of a permutation of [0, n) that differ from the identity, by open addressing. Holds up to
// `capacity` entries.
class SparsePermutation {
 public:
  explicit SparsePermutation(std::uint32_t capacity)
      : slots_(std::bit_ceil(std::size_t{capacity} * 2 + 1)), shift_(64 - std::countr_zero(slots_.size())) {}

  std::uint32_t operator[](std::uint32_t position) {
    const Slot& slot = slot_of(position);
    return slot.used ? slot.value : position;
  }
  void set(std::uint32_t position, std::uint32_t value) { slot_of(position) = {position, value, true}; }

 private:
  struct Slot {
    std::uint32_t position = 0, value = 0;
    bool used = false;
  };

  Slot& slot_of(std::uint32_t position) {
    std::size_t i = (position * 0x9E3779B97F4A7C15) >> shift_;
    while (slots_[i].used && slots_[i].position != position) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];
  }

  std::vector<Slot> slots_;
  int shift_;
};

}  // namespace

std::vector<std::uint32_t> sample_without_replacement(std::uint32_t n, std::uint32_t k,
                                                      RandomSource& random) {
  assert(k <= n);
  std::vector<std::uint32_t> sample;
  sample.reserve(k);
  SparsePermutation permutation(k);
  for (std::uint32_t i = 0; i < k; ++i) {
    const auto j = i + static_cast<std::uint32_t>(uniform_below(random, n - i));
    sample.push_back(permutation[j]);
    // Position i is never looked at again, so only j needs to be stored.
    permutation.set(j, permutation[i]);
  }
  return sample;
}

}  // namespace sotto
