#pragma once
// Adding and removing masks. A mask is a key stream read as little-endian words, one per entry; the entry
// widths below a whole word keep the low bits of the sum, which is the sum modulo their own power of two.

#include <cstdint>
#include <span>

#include "base/result.h"
#include "secagg/shared/keystream.h"

namespace sotto {

struct Mask {
  Key key;
  bool subtract = false;
};

// entries[i] ±= word (first_entry + i) of each mask's stream. Slice by slice, so that the entries stay in the
// second cache and the stream in the first while all masks pass over them: memory is read and written once
// however many masks there are. first_entry must be a multiple of kMaskSliceEntries, so that several threads
// may work on slices of one vector and no result depends on how many.
inline constexpr std::size_t kMaskSliceEntries = 1 << 15;
Status apply_masks(MaskCipher cipher, std::span<const Mask> masks, std::uint64_t first_entry,
                   std::span<std::uint8_t> entries);
Status apply_masks(MaskCipher cipher, std::span<const Mask> masks, std::uint64_t first_entry,
                   std::span<std::uint16_t> entries);
Status apply_masks(MaskCipher cipher, std::span<const Mask> masks, std::uint64_t first_entry,
                   std::span<std::uint32_t> entries);
Status apply_masks(MaskCipher cipher, std::span<const Mask> masks, std::uint64_t first_entry,
                   std::span<std::uint64_t> entries);

}  // namespace sotto
