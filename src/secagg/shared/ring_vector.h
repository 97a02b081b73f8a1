#pragma once
// A vector of integers modulo 2^b in the smallest words that hold them: what clients mask and the server
// sums.

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/result.h"
#include "secagg/shared/bytes.h"
#include "secagg/shared/masks.h"

namespace sotto::secagg {

// Owns its entries and wipes them on destruction: before masking they are somebody's data. Moves only. Bits
// of a word above b are garbage inside and cut off wherever entries leave.
class RingVector {
 public:
  static Result<RingVector> zeros(std::size_t entries, unsigned bits);  // bits: 8 … 32, or 64
  // Refuses entries that are not below 2^bits.
  static Result<RingVector> of(std::span<const std::uint32_t> entries, unsigned bits);
  static Result<RingVector> of(std::span<const std::uint64_t> entries, unsigned bits);

  RingVector(RingVector&&) = default;
  RingVector& operator=(RingVector&& other) noexcept;
  RingVector(const RingVector&) = delete;
  RingVector& operator=(const RingVector&) = delete;
  ~RingVector();

  std::size_t size() const;
  unsigned bits() const { return bits_; }
  std::uint64_t operator[](std::size_t i) const;
  std::vector<std::uint64_t> entries() const;

  Status add(const RingVector& other);  // sums of groups merge
  Status pack_into(std::span<std::uint8_t> out) const;
  // Adds a packed vector of the same size and width without holding it unpacked. Nothing is added when the
  // bytes are not one.
  Status add_packed(ByteView packed);
  // All masks over the whole vector on the calling thread, or on the pool.
  Status apply(std::span<const Mask> masks);
  Status apply_in_parallel(std::span<const Mask> masks);

 private:
  using Words = std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>,
                             std::vector<std::uint32_t>, std::vector<std::uint64_t>>;
  RingVector(Words words, unsigned bits) : words_(std::move(words)), bits_(bits) {}
  void wipe();
  std::uint64_t largest() const { return bits_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_) - 1; }
  template <class Entry>
  static Result<RingVector> from(std::span<const Entry> entries, unsigned bits);

  Words words_;
  unsigned bits_;
};

}  // namespace sotto::secagg
