#pragma once
// Entries modulo 2^b on the wire: b bits each, nothing between them, for b = 8 … 32 and 64.
//
// Entry i takes the bits [i·b, (i+1)·b) of the message, the lowest bit first, so that 8, 16, 32 and 64 are
// plain little-endian arrays. Bits after the last entry are zero. Eight entries fill whole bytes: a long
// vector may be packed and unpacked in blocks, at offset packed_bytes(k, b) for every k that is a multiple
// of 8.
//
// Pure functions, safe from several threads. Every length is checked before a byte is touched.

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace sotto::secagg {

constexpr bool is_wire_width(unsigned bits) { return (bits >= 8 && bits <= 32) || bits == 64; }

// Bytes that `entries` take at `bits` each. SIZE_MAX, which is nobody's size, when no memory could hold them:
// a hostile count can be compared with a message's length before anything is allocated.
constexpr std::size_t packed_bytes(std::size_t entries, unsigned bits) {
  std::size_t whole = 0;
  if (__builtin_mul_overflow(entries / 8, std::size_t{bits}, &whole)) return SIZE_MAX;
  const std::size_t rest = (entries % 8 * bits + 7) / 8;
  return whole > SIZE_MAX - rest ? SIZE_MAX : whole + rest;
}

// Writes all of `out`, which must have packed_bytes(entries.size(), bits) bytes. Bits of an entry above
// `bits` are dropped: that is the reduction modulo 2^bits. An entry type may hold more bits than `bits`, not
// fewer.
Status pack(std::span<const std::uint8_t> entries, unsigned bits, std::span<std::uint8_t> out);
Status pack(std::span<const std::uint16_t> entries, unsigned bits, std::span<std::uint8_t> out);
Status pack(std::span<const std::uint32_t> entries, unsigned bits, std::span<std::uint8_t> out);
Status pack(std::span<const std::uint64_t> entries, unsigned bits, std::span<std::uint8_t> out);

// Fills all of `entries`; each is below 2^bits. Refuses bytes of any other length than
// packed_bytes(entries.size(), bits) and bits after the last entry that are not zero: one vector has one
// encoding. After an error the content of `entries` is unspecified.
Status unpack(std::span<const std::uint8_t> bytes, unsigned bits, std::span<std::uint8_t> entries);
Status unpack(std::span<const std::uint8_t> bytes, unsigned bits, std::span<std::uint16_t> entries);
Status unpack(std::span<const std::uint8_t> bytes, unsigned bits, std::span<std::uint32_t> entries);
Status unpack(std::span<const std::uint8_t> bytes, unsigned bits, std::span<std::uint64_t> entries);

}  // namespace sotto::secagg
