// Any bytes as a packed vector and as a union's table: no crash, nothing out of range, one encoding per
// vector, and a union that decodes is the one its own encoding decodes to.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "base/random.h"
#include "secagg/item_union/sparse_union.h"
#include "secagg/vectors/bit_packing.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

template <class Entry>
void unpack_and_pack(std::span<const std::uint8_t> bytes, unsigned bits, std::size_t entries) {
  std::vector<Entry> values(entries);
  if (!sotto::secagg::unpack(bytes, bits, values)) return;
  const std::uint64_t largest = ~std::uint64_t{0} >> (64 - bits);
  for (const Entry value : values) require(value <= largest);
  std::vector<std::uint8_t> again(bytes.size());
  require(sotto::secagg::pack(values, bits, again).has_value());
  require(std::equal(bytes.begin(), bytes.end(), again.begin()));
}

void decode_table(std::span<const std::uint8_t> bytes, std::uint64_t catalogue) {
  const auto form = sotto::secagg::SparseUnion::create({catalogue, 4, 7});
  if (!form) return;
  std::vector<std::uint64_t> words(form->entries());  // what the bytes do not fill stays zero
  std::memcpy(words.data(), bytes.data(), std::min(bytes.size(), 8 * words.size()));
  const auto items = form->decode(words);
  if (!items) return;
  require(std::is_sorted(items->begin(), items->end()));
  require(items->empty() || items->back() < catalogue);
  sotto::SeededRandom random(1, sotto::Purpose::test);
  const auto table = form->encode(*items, sotto::privacy::DeviceRandom::simulated(random));
  require(table.has_value());
  if (const auto again = form->decode(*table)) require(*again == *items);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const unsigned bits = data[0];
  const std::size_t entries = data[1] + 256U * (data[2] % 4);
  const auto bytes = std::span(data, size).subspan(4);
  unpack_and_pack<std::uint8_t>(bytes, bits, entries);
  unpack_and_pack<std::uint16_t>(bytes, bits, entries);
  unpack_and_pack<std::uint32_t>(bytes, bits, entries);
  unpack_and_pack<std::uint64_t>(bytes, bits, entries);
  decode_table(bytes, std::uint64_t{1} << (data[3] % 33));
  return 0;
}
