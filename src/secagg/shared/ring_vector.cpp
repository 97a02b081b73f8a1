#include "secagg/shared/ring_vector.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

#include "base/thread_pool.h"
#include "secagg/vectors/bit_packing.h"
#include "secagg/vectors/modular_kernels.h"

namespace sotto::secagg {

Result<RingVector> RingVector::zeros(std::size_t entries, unsigned bits) {
  if (!is_wire_width(bits)) return bad_input("entries of {} bits: 8 to 32 bits or 64 are possible", bits);
  if (bits == 8) return RingVector(std::vector<std::uint8_t>(entries), bits);
  if (bits <= 16) return RingVector(std::vector<std::uint16_t>(entries), bits);
  if (bits <= 32) return RingVector(std::vector<std::uint32_t>(entries), bits);
  return RingVector(std::vector<std::uint64_t>(entries), bits);
}

template <class Entry>
Result<RingVector> RingVector::from(std::span<const Entry> entries, unsigned bits) {
  SOTTO_TRY(RingVector vector, zeros(entries.size(), bits));
  Entry all = 0;
  for (const Entry entry : entries) all |= entry;
  if (all > vector.largest()) {
    return bad_input("an entry does not fit into {} bits: reduce the vector modulo 2^{} first", bits, bits);
  }
  std::visit(
      [&](auto& words) {
        using Word = typename std::decay_t<decltype(words)>::value_type;
        std::transform(entries.begin(), entries.end(), words.begin(),
                       [](Entry entry) { return static_cast<Word>(entry); });
      },
      vector.words_);
  return vector;
}

Result<RingVector> RingVector::of(std::span<const std::uint32_t> entries, unsigned bits) {
  return from(entries, bits);
}
Result<RingVector> RingVector::of(std::span<const std::uint64_t> entries, unsigned bits) {
  return from(entries, bits);
}

RingVector& RingVector::operator=(RingVector&& other) noexcept {
  if (this != &other) {
    wipe();
    words_ = std::move(other.words_);
    bits_ = other.bits_;
  }
  return *this;
}

RingVector::~RingVector() { wipe(); }

void RingVector::wipe() {
  std::visit([](auto& words) { sodium_memzero(words.data(), words.size() * sizeof(words[0])); }, words_);
}

std::size_t RingVector::size() const {
  return std::visit([](const auto& words) { return words.size(); }, words_);
}

std::uint64_t RingVector::operator[](std::size_t i) const {
  return std::visit([&](const auto& words) -> std::uint64_t { return words[i] & largest(); }, words_);
}

std::vector<std::uint64_t> RingVector::entries() const {
  std::vector<std::uint64_t> result(size());
  std::visit(
      [&](const auto& words) {
        std::transform(words.begin(), words.end(), result.begin(),
                       [&](auto word) { return word & largest(); });
      },
      words_);
  return result;
}

Status RingVector::add(const RingVector& other) {
  if (other.size() != size() || other.bits_ != bits_) {
    return bad_input("a vector of {} entries of {} bits cannot be added to one of {} entries of {} bits",
                     other.size(), other.bits_, size(), bits_);
  }
  std::visit(
      [&](auto& words) {
        const auto& theirs = std::get<std::decay_t<decltype(words)>>(other.words_);
        add_words(words.data(), theirs.data(), words.size());
      },
      words_);
  return {};
}

Status RingVector::pack_into(std::span<std::uint8_t> out) const {
  return std::visit([&](const auto& words) { return pack(std::span(words), bits_, out); }, words_);
}

Status RingVector::add_packed(ByteView packed) {
  if (packed.size() != packed_bytes(size(), bits_)) {
    return bad_input("{} entries of {} bits take {} bytes, the message has {}", size(), bits_,
                     packed_bytes(size(), bits_), packed.size());
  }
  constexpr std::size_t block_size = 2048;
  return std::visit(
      [&](auto& words) -> Status {
        using Word = typename std::decay_t<decltype(words)>::value_type;
        std::array<Word, block_size> block;
        // Only the last block can be refused (for bits after the last entry), so it is checked first.
        const std::size_t last = words.empty() ? 0 : (words.size() - 1) / block_size * block_size;
        SOTTO_CHECK(unpack(packed.subspan(packed_bytes(last, bits_)), bits_,
                           std::span(block).first(words.size() - last)));
        add_words(words.data() + last, block.data(), words.size() - last);
        for (std::size_t at = 0; at < last; at += block_size) {
          SOTTO_CHECK(unpack(packed.subspan(packed_bytes(at, bits_), packed_bytes(block_size, bits_)), bits_,
                             std::span(block)));
          add_words(words.data() + at, block.data(), block_size);
        }
        return {};
      },
      words_);
}

Status RingVector::apply(std::span<const Mask> masks) {
  return std::visit([&](auto& words) { return apply_masks(masks, 0, std::span(words)); }, words_);
}

Status RingVector::apply_in_parallel(std::span<const Mask> masks) {
  const std::size_t slices = (size() + mask_slice_entries - 1) / mask_slice_entries;
  std::mutex mutex;
  std::optional<Error> error;
  std::visit(
      [&](auto& words) {
        parallel_for(slices, 1, [&](std::size_t begin, std::size_t end) {
          const std::size_t first = begin * mask_slice_entries;
          const std::size_t last = std::min(words.size(), end * mask_slice_entries);
          auto done = apply_masks(masks, first, std::span(words).subspan(first, last - first));
          if (!done) {
            const std::lock_guard lock(mutex);
            error = std::move(done).error();
          }
        });
      },
      words_);
  if (error) return tl::unexpected(std::move(*error));
  return {};
}

}  // namespace sotto::secagg
