#include <sodium.h>

#include <array>
#include <cstring>

#include "base/isa.h"
#include "secagg/shared/masks.h"

namespace sotto::secagg {

#if defined(__x86_64__) && defined(__GNUC__)

namespace {

// One word of the state of sixteen blocks.
using Lanes = std::uint32_t __attribute__((vector_size(64)));
constexpr std::size_t blocks_at_once = 16;
constexpr std::size_t bytes_at_once = blocks_at_once * stream_block_bytes;

SOTTO_INLINE void rotate(Lanes& word, int bits) { word = word << bits | word >> (32 - bits); }

SOTTO_INLINE void quarter_round(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
  a += b, d ^= a, rotate(d, 16);
  c += d, b ^= c, rotate(b, 12);
  a += b, d ^= a, rotate(d, 8);
  c += d, b ^= c, rotate(b, 7);
}

// From sixteen words of each block to each block's sixteen words: four times a perfect shuffle of all lanes.
SOTTO_INLINE void transpose(Lanes (&words)[16]) {
  for (int step = 0; step < 4; ++step) {
    Lanes shuffled[16];
    for (std::size_t i = 0; i < 8; ++i) {
      const Lanes a = words[i], b = words[i + 8];
      shuffled[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      shuffled[2 * i + 1] =
          __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    std::memcpy(words, shuffled, sizeof words);
  }
}

__attribute__((target("arch=x86-64-v4"))) void write_blocks(const std::array<std::uint32_t, 8>& key,
                                                            std::uint32_t first_block, std::uint8_t* out,
                                                            std::size_t bytes) {
  constexpr std::array<std::uint32_t, 4> constants{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  Lanes start[16] = {};
  for (std::size_t i = 0; i < 4; ++i) start[i] = start[i] + constants[i];
  for (std::size_t i = 0; i < 8; ++i) start[4 + i] = start[4 + i] + key[i];
  const Lanes block_of_lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  start[12] = block_of_lane + first_block;
  for (; bytes >= bytes_at_once; bytes -= bytes_at_once, out += bytes_at_once) {
    Lanes words[16];
    for (int i = 0; i < 16; ++i) words[i] = start[i];
    for (int double_round = 0; double_round < 10; ++double_round) {
      for (int i = 0; i < 4; ++i) quarter_round(words[i], words[4 + i], words[8 + i], words[12 + i]);
      for (int i = 0; i < 4; ++i) {
        quarter_round(words[i], words[4 + (i + 1) % 4], words[8 + (i + 2) % 4], words[12 + (i + 3) % 4]);
      }
    }
    for (int i = 0; i < 16; ++i) words[i] += start[i];
    transpose(words);
    std::memcpy(out, words, bytes_at_once);
    start[12] += blocks_at_once;
  }
  sodium_memzero(start, sizeof start);
}

}  // namespace

std::size_t read_stream_by_sixteen(const Key& key, std::uint32_t first_block, std::span<std::uint8_t> out) {
  static const bool wide = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  const std::size_t bytes = out.size() / bytes_at_once * bytes_at_once;
  if (!wide || bytes == 0) return 0;
  std::array<std::uint32_t, 8> words;
  std::memcpy(words.data(), key.data(), sizeof words);
  write_blocks(words, first_block, out.data(), bytes);
  sodium_memzero(words.data(), sizeof words);
  return bytes;
}

#else

std::size_t read_stream_by_sixteen(const Key&, std::uint32_t, std::span<std::uint8_t>) { return 0; }

#endif

}  // namespace sotto::secagg
