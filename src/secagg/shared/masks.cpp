#include "secagg/shared/masks.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <bit>

#include "secagg/vectors/modular_kernels.h"

namespace sotto::secagg {

static_assert(std::endian::native == std::endian::little, "key streams are read as words in memory order");

namespace {

// A piece of key stream in the first cache; a mask word is as secret as what it hides, so it is wiped.
struct alignas(64) StreamPiece {
  std::array<std::uint8_t, 8192> bytes;
  StreamPiece() = default;
  StreamPiece(const StreamPiece&) = delete;
  StreamPiece& operator=(const StreamPiece&) = delete;
  ~StreamPiece() { sodium_memzero(bytes.data(), bytes.size()); }
};

template <class Word>
void apply_one(const Mask& mask, std::uint64_t first_entry, StreamPiece& piece, std::span<Word> entries) {
  std::uint64_t position = first_entry * sizeof(Word);
  while (!entries.empty()) {
    const std::size_t count = std::min(entries.size(), piece.bytes.size() / sizeof(Word));
    read_stream(mask.key, static_cast<std::uint32_t>(position / stream_block_bytes),
                std::span(piece.bytes).first(count * sizeof(Word)));
    const auto* words = reinterpret_cast<const Word*>(piece.bytes.data());
    if (mask.subtract) {
      subtract_words(entries.data(), words, count);
    } else {
      add_words(entries.data(), words, count);
    }
    entries = entries.subspan(count);
    position += count * sizeof(Word);
  }
}

template <class Word>
Status apply(std::span<const Mask> masks, std::uint64_t first_entry, std::span<Word> entries) {
  if (first_entry % mask_slice_entries != 0) {
    return bad_input("masks are applied from a multiple of {} on, not from {}", mask_slice_entries,
                     first_entry);
  }
  if ((first_entry + entries.size()) * sizeof(Word) / stream_block_bytes >> 32 != 0) {
    return bad_input("a mask is at most 256 GiB long");  // its block counter has 32 bits
  }
  StreamPiece piece;
  while (!entries.empty()) {
    const auto slice = entries.first(std::min(entries.size(), mask_slice_entries));
    for (const Mask& mask : masks) apply_one(mask, first_entry, piece, slice);
    entries = entries.subspan(slice.size());
    first_entry += slice.size();
  }
  return {};
}

}  // namespace

void read_stream(const Key& key, std::uint32_t first_block, std::span<std::uint8_t> out) {
  const std::size_t done = read_stream_by_sixteen(key, first_block, out);
  if (done == out.size()) return;
  out = out.subspan(done);
  first_block += static_cast<std::uint32_t>(done / stream_block_bytes);
  constexpr std::array<std::uint8_t, crypto_stream_chacha20_ietf_NONCEBYTES> nonce{};
  std::fill(out.begin(), out.end(), std::uint8_t{0});  // encrypting zeros gives the bare stream
  crypto_stream_chacha20_ietf_xor_ic(out.data(), out.data(), out.size(), nonce.data(), first_block,
                                     key.data());
}

Status apply_masks(std::span<const Mask> masks, std::uint64_t first_entry, std::span<std::uint8_t> entries) {
  return apply(masks, first_entry, entries);
}
Status apply_masks(std::span<const Mask> masks, std::uint64_t first_entry, std::span<std::uint16_t> entries) {
  return apply(masks, first_entry, entries);
}
Status apply_masks(std::span<const Mask> masks, std::uint64_t first_entry, std::span<std::uint32_t> entries) {
  return apply(masks, first_entry, entries);
}
Status apply_masks(std::span<const Mask> masks, std::uint64_t first_entry, std::span<std::uint64_t> entries) {
  return apply(masks, first_entry, entries);
}

}  // namespace sotto::secagg
