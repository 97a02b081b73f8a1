#pragma once
// Adding and removing masks. A mask is the ChaCha20 stream of its key read as little-endian words, one per
// entry; the entry widths below a whole word keep the low bits of the sum, which is the sum modulo their own
// power of two.

#include <cstdint>
#include <span>

#include "base/result.h"
#include "secagg/shared/bytes.h"

namespace sotto::secagg {

// The stream of a key (RFC 8439, nonce zero: each key serves for one mask) from a 64-byte block on.
inline constexpr std::size_t stream_block_bytes = 64;
void read_stream(const Key& key, std::uint32_t first_block, std::span<std::uint8_t> out);
// The same, sixteen blocks at a time in 512-bit vectors, which is twice as fast as libsodium: as many whole
// KiB as `out` has, and how many bytes that were; none on other processors.
std::size_t read_stream_by_sixteen(const Key& key, std::uint32_t first_block, std::span<std::uint8_t> out);

struct Mask {
  Key key;
  bool subtract = false;
};

// entries[i] ±= word (first_entry + i) of each mask's stream. Slice by slice, so that the entries stay in the
// second cache and the stream in the first while all masks pass over them: memory is read and written once
// however many masks there are. first_entry must be a multiple of mask_slice_entries, so that several threads
// may work on slices of one vector and no result depends on how many. A stream is at most 256 GiB long.
inline constexpr std::size_t mask_slice_entries = 1 << 15;
Status apply_masks(std::span<const Mask> masks, std::uint64_t first_entry, std::span<std::uint8_t> entries);
Status apply_masks(std::span<const Mask> masks, std::uint64_t first_entry, std::span<std::uint16_t> entries);
Status apply_masks(std::span<const Mask> masks, std::uint64_t first_entry, std::span<std::uint32_t> entries);
Status apply_masks(std::span<const Mask> masks, std::uint64_t first_entry, std::span<std::uint64_t> entries);

}  // namespace sotto::secagg
