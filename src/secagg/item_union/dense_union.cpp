#include "secagg/item_union/dense_union.h"

#include "secagg/item_union/item_set.h"
#include "secagg/vectors/bit_packing.h"

namespace sotto::secagg {

Result<DenseUnion> DenseUnion::create(std::uint64_t catalogue, unsigned bits) {
  SOTTO_CHECK(require_catalogue(catalogue));
  SOTTO_TRY(const Modulus modulus, Modulus::of_bits(bits));
  return DenseUnion(catalogue, modulus);
}

Result<std::vector<std::uint64_t>> DenseUnion::encode(std::span<const std::uint32_t> items,
                                                      privacy::DeviceRandom random) const {
  SOTTO_TRY(const auto distinct, distinct_items(items, catalogue_));
  std::vector<std::uint64_t> entries(catalogue_);
  for (const std::uint32_t item : distinct) entries[item] = random_nonzero(modulus_.mask(), random.source());
  return entries;
}

Result<std::vector<std::uint32_t>> DenseUnion::decode(std::span<const std::uint64_t> sum) const {
  if (sum.size() != catalogue_) {
    return bad_input("the sum has {} entries, the catalogue {} items", sum.size(), catalogue_);
  }
  std::vector<std::uint32_t> items;
  for (std::size_t item = 0; item < sum.size(); ++item) {
    if ((sum[item] & modulus_.mask()) != 0) items.push_back(static_cast<std::uint32_t>(item));
  }
  return items;
}

std::size_t DenseUnion::bytes_per_device() const { return packed_bytes(catalogue_, modulus_.bits()); }

}  // namespace sotto::secagg
