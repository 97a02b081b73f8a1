#include "secagg/shared/masks.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "secagg/vectors/modular_kernels.h"

namespace sotto {

static_assert(std::endian::native == std::endian::little, "key streams are read as words in memory order");

namespace {

// A piece of key stream in the first cache; a mask word is as secret as what it hides, so it is wiped.
struct alignas(64) StreamBlock {
  std::array<std::uint8_t, Keystream::kLargestRead> bytes;
  StreamBlock() = default;
  StreamBlock(const StreamBlock&) = delete;
  StreamBlock& operator=(const StreamBlock&) = delete;
  ~StreamBlock() { sodium_memzero(bytes.data(), bytes.size()); }
};

template <class Word>
Status apply_one(Keystream& stream, StreamBlock& block, bool subtract, std::span<Word> entries) {
  while (!entries.empty()) {
    const std::size_t count = std::min(entries.size(), block.bytes.size() / sizeof(Word));
    SOTTO_CHECK(stream.read(std::span(block.bytes).first(count * sizeof(Word))));
    const auto* words = reinterpret_cast<const Word*>(block.bytes.data());
    if (subtract) {
      subtract_words(entries.data(), words, count);
    } else {
      add_words(entries.data(), words, count);
    }
    entries = entries.subspan(count);
  }
  return {};
}

template <class Word>
Status apply(MaskCipher cipher, std::span<const Mask> masks, std::uint64_t first_entry,
             std::span<Word> entries) {
  if (first_entry % kMaskSliceEntries != 0) {
    return bad_input("masks are applied from a multiple of {} on, not from {}", kMaskSliceEntries,
                     first_entry);
  }
  SOTTO_TRY(Keystream stream, Keystream::create(cipher));
  StreamBlock block;
  while (!entries.empty()) {
    const auto slice = entries.first(std::min(entries.size(), kMaskSliceEntries));
    for (const Mask& mask : masks) {
      SOTTO_CHECK(stream.start(mask.key, first_entry * sizeof(Word)));
      SOTTO_CHECK(apply_one(stream, block, mask.subtract, slice));
    }
    entries = entries.subspan(slice.size());
    first_entry += slice.size();
  }
  return {};
}

}  // namespace

Status apply_masks(MaskCipher cipher, std::span<const Mask> masks, std::uint64_t first_entry,
                   std::span<std::uint8_t> entries) {
  return apply(cipher, masks, first_entry, entries);
}
Status apply_masks(MaskCipher cipher, std::span<const Mask> masks, std::uint64_t first_entry,
                   std::span<std::uint16_t> entries) {
  return apply(cipher, masks, first_entry, entries);
}
Status apply_masks(MaskCipher cipher, std::span<const Mask> masks, std::uint64_t first_entry,
                   std::span<std::uint32_t> entries) {
  return apply(cipher, masks, first_entry, entries);
}
Status apply_masks(MaskCipher cipher, std::span<const Mask> masks, std::uint64_t first_entry,
                   std::span<std::uint64_t> entries) {
  return apply(cipher, masks, first_entry, entries);
}

}  // namespace sotto
