#include "secagg/item_union/item_set.h"

#include <algorithm>

namespace sotto::secagg {

Status require_catalogue(std::uint64_t catalogue) {
  if (catalogue >= 1 && catalogue <= std::uint64_t{1} << 32) return {};
  return bad_input("a catalogue of {} items: must have 1 to 2^32", catalogue);
}

Result<std::vector<std::uint32_t>> distinct_items(std::span<const std::uint32_t> items,
                                                  std::uint64_t catalogue) {
  std::vector<std::uint32_t> sorted(items.begin(), items.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  if (!sorted.empty() && sorted.back() >= catalogue) {
    return bad_input("item {} is not in the catalogue of {} items", sorted.back(), catalogue);
  }
  return sorted;
}

std::uint64_t random_nonzero(std::uint64_t mask, RandomSource& random) {
  for (;;) {
    if (const std::uint64_t value = random() & mask; value != 0) return value;
  }
}

}  // namespace sotto::secagg
