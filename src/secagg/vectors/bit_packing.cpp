#include "secagg/vectors/bit_packing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "secagg/vectors/bit_packing_kernels.h"

namespace sotto::secagg {

static_assert(std::endian::native == std::endian::little,
              "whole-byte widths are copied as they lie in memory");

namespace {

template <class Entry>
Status check(std::size_t entries, unsigned bits, std::size_t bytes) {
  if (!is_wire_width(bits)) return bad_input("{} bits per entry: the wire carries 8 to 32, or 64", bits);
  if (bits > 8 * sizeof(Entry)) {
    return bad_input("{} bits per entry do not fit into entries of {} bits: use a wider type", bits,
                     8 * sizeof(Entry));
  }
  if (const std::size_t needed = packed_bytes(entries, bits); bytes != needed) {
    return bad_input("{} entries of {} bits take {} bytes, here are {}", entries, bits, needed, bytes);
  }
  return {};
}

// Entries of other types go through a block of 32-bit ones that stays in the first cache.
constexpr std::size_t grouped_entries = 512;

template <class Entry>
Status pack_entries(std::span<const Entry> entries, unsigned bits, std::span<std::uint8_t> out) {
  SOTTO_CHECK(check<Entry>(entries.size(), bits, out.size()));
  if (bits == 8 * sizeof(Entry)) {
    if (!entries.empty()) std::memcpy(out.data(), entries.data(), out.size());
    return {};
  }
  std::array<std::uint32_t, grouped_entries> block{};
  std::array<std::uint8_t, 32> last{};
  while (!entries.empty()) {
    const std::size_t count = std::min(grouped_entries, entries.size()), groups = count / 8;
    std::transform(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count), block.begin(),
                   [](Entry entry) { return static_cast<std::uint32_t>(entry); });
    pack_groups(block.data(), groups, bits, out.data());
    if (count % 8 != 0) {
      std::fill(block.begin() + static_cast<std::ptrdiff_t>(count),
                block.begin() + static_cast<std::ptrdiff_t>(8 * groups + 8), 0U);
      pack_groups(&block[8 * groups], 1, bits, last.data());
      std::memcpy(&out[groups * bits], last.data(), out.size() - groups * bits);
    }
    entries = entries.subspan(count);
    out = out.subspan(packed_bytes(count, bits));
  }
  return {};
}

template <class Entry>
Status unpack_entries(std::span<const std::uint8_t> bytes, unsigned bits, std::span<Entry> entries) {
  SOTTO_CHECK(check<Entry>(entries.size(), bits, bytes.size()));
  if (bits == 8 * sizeof(Entry)) {
    if (!entries.empty()) std::memcpy(entries.data(), bytes.data(), bytes.size());
    return {};
  }
  const auto used = static_cast<unsigned>(entries.size() % 8 * bits % 8);  // bits of the last byte
  if (used != 0 && bytes.back() >> used != 0) {
    return bad_input("the bits after the last entry are not zero: the message is damaged or forged");
  }
  std::array<std::uint32_t, grouped_entries> block{};
  std::array<std::uint8_t, 32> last{};
  while (!entries.empty()) {
    const std::size_t count = std::min(grouped_entries, entries.size()), groups = count / 8;
    unpack_groups(bytes.data(), groups, bits, block.data());
    if (count % 8 != 0) {
      std::memcpy(last.data(), &bytes[groups * bits], bytes.size() - groups * bits);
      unpack_groups(last.data(), 1, bits, &block[8 * groups]);
    }
    std::transform(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count), entries.begin(),
                   [](std::uint32_t entry) { return static_cast<Entry>(entry); });
    entries = entries.subspan(count);
    bytes = bytes.subspan(packed_bytes(count, bits));
  }
  return {};
}

}  // namespace

Status pack(std::span<const std::uint8_t> entries, unsigned bits, std::span<std::uint8_t> out) {
  return pack_entries(entries, bits, out);
}
Status pack(std::span<const std::uint16_t> entries, unsigned bits, std::span<std::uint8_t> out) {
  return pack_entries(entries, bits, out);
}
Status pack(std::span<const std::uint32_t> entries, unsigned bits, std::span<std::uint8_t> out) {
  return pack_entries(entries, bits, out);
}
Status pack(std::span<const std::uint64_t> entries, unsigned bits, std::span<std::uint8_t> out) {
  return pack_entries(entries, bits, out);
}
Status unpack(std::span<const std::uint8_t> bytes, unsigned bits, std::span<std::uint8_t> entries) {
  return unpack_entries(bytes, bits, entries);
}
Status unpack(std::span<const std::uint8_t> bytes, unsigned bits, std::span<std::uint16_t> entries) {
  return unpack_entries(bytes, bits, entries);
}
Status unpack(std::span<const std::uint8_t> bytes, unsigned bits, std::span<std::uint32_t> entries) {
  return unpack_entries(bytes, bits, entries);
}
Status unpack(std::span<const std::uint8_t> bytes, unsigned bits, std::span<std::uint64_t> entries) {
  return unpack_entries(bytes, bits, entries);
}

}  // namespace sotto::secagg
