#include "base/random.h"

#include <string.h>

namespace sotto {

namespace {

// Bijective on 64 bits (the finaliser of SplitMix64).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

struct WideProduct {
  std::uint32_t high, low;
};

WideProduct multiply(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t product = static_cast<std::uint64_t>(a) * b;
  return {static_cast<std::uint32_t>(product >> 32), static_cast<std::uint32_t>(product)};
}

}  // namespace

void RandomSource::discard_buffer() {
  next_ = buffer_.size();
  explicit_bzero(buffer_.data(), sizeof buffer_);
}

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const auto first = multiply(0xD2511F53, counter[0]);
    const auto second = multiply(0xCD9E8D57, counter[2]);
    counter = {second.high ^ counter[1] ^ key[0], second.low, first.high ^ counter[3] ^ key[1], first.low};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// For one seed the key is a bijection of the purpose, so purposes never share a stream; mixing the seed first
// keeps neighbouring seeds apart too.
SeededRandom::SeededRandom(std::uint64_t seed, Purpose purpose, std::uint32_t round, std::uint32_t user)
    : round_(round), user_(user) {
  const std::uint64_t key = mix(mix(seed) + static_cast<std::uint64_t>(purpose) * 0x9E3779B97F4A7C15);
  key_ = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

void SeededRandom::seek(std::uint64_t block) {
  block_ = block;
  discard_buffer();
}

// Every fill starts at a whole block: after an odd number of words the other half of the last block is
// skipped.
void SeededRandom::fill(std::span<std::uint64_t> out) {
  for (std::size_t i = 0; i < out.size(); i += 2, ++block_) {
    const auto words = philox4x32(
        {static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(block_ >> 32), round_, user_}, key_);
    out[i] = words[0] | static_cast<std::uint64_t>(words[1]) << 32;
    if (i + 1 < out.size()) out[i + 1] = words[2] | static_cast<std::uint64_t>(words[3]) << 32;
  }
}

}  // namespace sotto
