#include "secagg/item_union/counter_layout.h"

#include <algorithm>

#include "privacy/mechanisms/parameter_checks.h"
#include "secagg/item_union/item_hash.h"
#include "secagg/item_union/item_set.h"

namespace sotto {

Result<CounterLayout> CounterLayout::one_per_item(std::uint64_t catalogue) {
  SOTTO_CHECK(require_catalogue(catalogue));
  return CounterLayout(catalogue, std::nullopt);
}

Result<CounterLayout> CounterLayout::hashed(std::uint64_t catalogue, const Hashed& hashed) {
  SOTTO_CHECK(require_catalogue(catalogue));
  SOTTO_CHECK(require_at_least(hashed.rows, 1, "rows of counters"));
  SOTTO_CHECK(require_at_least(hashed.counters, 1, "counters in a row"));
  if (hashed.rows > 16) return bad_input("{} rows of counters: more than 16 only add noise", hashed.rows);
  return CounterLayout(catalogue, hashed);
}

std::uint64_t CounterLayout::counter_of(std::uint32_t item, std::uint32_t row) const {
  if (!hashed_) return item;
  const auto words = hash_item(hashed_->seed, HashUse::buckets, item, row / 4);
  return std::uint64_t{row} * hashed_->counters + scale_below(words[row % 4], hashed_->counters);
}

std::vector<std::uint64_t> CounterLayout::counters_of(std::span<const std::uint32_t> items) const {
  std::vector<std::uint64_t> counters;
  counters.reserve(items.size() * rows());
  for (const std::uint32_t item : items) {
    for (std::uint32_t row = 0; row < rows(); ++row) counters.push_back(counter_of(item, row));
  }
  std::sort(counters.begin(), counters.end());
  counters.erase(std::unique(counters.begin(), counters.end()), counters.end());
  return counters;
}

}  // namespace sotto
