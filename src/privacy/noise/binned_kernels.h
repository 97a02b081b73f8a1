#pragma once
// The inner loop of BinnedSampler: random words to samples, and the positions that need a closer look.
//
// A word is read as: slot (11 bits), threshold bits (16), acceptance bits (16), low bits of the sample from
// the top.

#include <cstddef>
#include <cstdint>

namespace sotto::privacy::binned {

struct Table {
  const std::uint64_t* slots;  // 2^11 entries, see BinnedSampler
  std::int32_t half_bins;
  unsigned low_bits;  // at most 21
};

inline constexpr unsigned slot_bits_mask = 0x7ff;
inline constexpr unsigned threshold_at = 11;
inline constexpr unsigned accept_at = 27;
inline constexpr unsigned entry_alias = 16;
inline constexpr unsigned entry_own_accept = 27;
inline constexpr unsigned entry_alias_accept = 43;

// Writes `count` samples; appends the positions whose value is not decided yet to `undecided`, in order, and
// returns how many there are. `undecided` has room for `count`.
std::size_t scalar(const Table& table, const std::uint64_t* words, std::size_t count, std::int32_t* out,
                   std::uint16_t* undecided);
// Only where supported(); count is a multiple of 8.
std::size_t avx2(const Table& table, const std::uint64_t* words, std::size_t count, std::int32_t* out,
                 std::uint16_t* undecided);
std::size_t avx512(const Table& table, const std::uint64_t* words, std::size_t count, std::int32_t* out,
                   std::uint16_t* undecided);

}  // namespace sotto::privacy::binned
