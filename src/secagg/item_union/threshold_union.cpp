#include "secagg/item_union/threshold_union.h"

#include "privacy/mechanisms/parameter_checks.h"
#include "secagg/item_union/item_set.h"
#include "secagg/vectors/bit_packing.h"

namespace sotto {

Result<ThresholdUnion> ThresholdUnion::create(std::uint64_t catalogue, std::uint64_t devices,
                                              std::uint64_t threshold) {
  SOTTO_CHECK(require_catalogue(catalogue));
  SOTTO_CHECK(require_at_least(threshold, 1, "threshold"));
  if (threshold > devices) return bad_input("{} devices never reach a threshold of {}", devices, threshold);
  SOTTO_TRY(const Modulus modulus,
            choose_modulus({.devices = devices, .entry_bound = 1, .dimension = catalogue}));
  return ThresholdUnion(catalogue, threshold, modulus);
}

Result<std::vector<std::uint32_t>> ThresholdUnion::encode(std::span<const std::uint32_t> items) const {
  SOTTO_TRY(const auto distinct, distinct_items(items, catalogue_));
  std::vector<std::uint32_t> counts(catalogue_);
  for (const std::uint32_t item : distinct) counts[item] = 1;
  return counts;
}

Result<std::vector<std::uint32_t>> ThresholdUnion::decode(std::span<const std::uint32_t> sum) const {
  SOTTO_CHECK(require_length(sum.size(), catalogue_, "the sum of the counts"));
  std::vector<std::uint32_t> named;
  for (std::size_t item = 0; item < sum.size(); ++item) {
    const std::int64_t count = modulus_.centre(sum[item]);
    if (count >= 0 && static_cast<std::uint64_t>(count) >= threshold_)
      named.push_back(static_cast<std::uint32_t>(item));
  }
  return named;
}

std::size_t ThresholdUnion::bytes_per_device() const { return packed_bytes(catalogue_, modulus_.bits()); }

}  // namespace sotto
