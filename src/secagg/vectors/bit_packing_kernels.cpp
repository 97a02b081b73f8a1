#include "secagg/vectors/bit_packing_kernels.h"

#include <array>
#include <cstring>
#include <utility>

#include "base/isa.h"

namespace sotto::secagg {

namespace {

// With the width known to the compiler all positions are constants: a handful of shifts and stores per group.
template <unsigned Bits>
struct Group {
  static constexpr std::size_t word_count = (8 * Bits + 63) / 64;
  static constexpr std::uint64_t mask = (std::uint64_t{1} << Bits) - 1;

  static SOTTO_INLINE void pack(const std::uint32_t* entries, std::uint8_t* out) {
    std::array<std::uint64_t, word_count> words{};
    [&]<std::size_t... I>(std::index_sequence<I...>) { (put<I>(words, entries[I] & mask), ...); }
    (std::make_index_sequence<8>());
    std::memcpy(out, words.data(), Bits);
  }

  static SOTTO_INLINE void unpack(const std::uint8_t* bytes, std::uint32_t* entries) {
    std::array<std::uint64_t, word_count> words{};
    std::memcpy(words.data(), bytes, Bits);
    [&]<std::size_t... I>(std::index_sequence<I...>) { ((entries[I] = get<I>(words)), ...); }
    (std::make_index_sequence<8>());
  }

 private:
  template <std::size_t I>
  static SOTTO_INLINE void put(std::array<std::uint64_t, word_count>& words, std::uint64_t value) {
    constexpr std::size_t at = I * Bits, word = at / 64, shift = at % 64;
    std::get<word>(words) |= value << shift;
    if constexpr (shift + Bits > 64) std::get<word + 1>(words) |= value >> (64 - shift);
  }

  template <std::size_t I>
  static SOTTO_INLINE std::uint32_t get(const std::array<std::uint64_t, word_count>& words) {
    constexpr std::size_t at = I * Bits, word = at / 64, shift = at % 64;
    std::uint64_t value = std::get<word>(words) >> shift;
    if constexpr (shift + Bits > 64) value |= std::get<word + 1>(words) << (64 - shift);
    return static_cast<std::uint32_t>(value & mask);
  }
};

using PackLoop = void (*)(const std::uint32_t*, std::size_t, std::uint8_t*);
using UnpackLoop = void (*)(const std::uint8_t*, std::size_t, std::uint32_t*);

template <unsigned Bits>
void pack_loop(const std::uint32_t* entries, std::size_t groups, std::uint8_t* out) {
  for (std::size_t g = 0; g < groups; ++g) Group<Bits>::pack(entries + 8 * g, out + Bits * g);
}

template <unsigned Bits>
void unpack_loop(const std::uint8_t* bytes, std::size_t groups, std::uint32_t* entries) {
  for (std::size_t g = 0; g < groups; ++g) Group<Bits>::unpack(bytes + Bits * g, entries + 8 * g);
}

constexpr unsigned smallest = 8, width_count = 25;

template <unsigned... W>
constexpr std::array<PackLoop, width_count> pack_loops(std::integer_sequence<unsigned, W...> /*widths*/) {
  return {pack_loop<smallest + W>...};
}
template <unsigned... W>
constexpr std::array<UnpackLoop, width_count> unpack_loops(std::integer_sequence<unsigned, W...> /*widths*/) {
  return {unpack_loop<smallest + W>...};
}

constexpr auto packers = pack_loops(std::make_integer_sequence<unsigned, width_count>());
constexpr auto unpackers = unpack_loops(std::make_integer_sequence<unsigned, width_count>());

}  // namespace

void pack_groups(const std::uint32_t* entries, std::size_t groups, unsigned bits, std::uint8_t* out) {
  packers[bits - smallest](entries, groups, out);
}

void unpack_groups(const std::uint8_t* bytes, std::size_t groups, unsigned bits, std::uint32_t* entries) {
  unpackers[bits - smallest](bytes, groups, entries);
}

}  // namespace sotto::secagg
