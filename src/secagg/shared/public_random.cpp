#include "secagg/shared/public_random.h"

#include <sodium.h>

#include <array>
#include <bit>
#include <cstring>

namespace sotto {

static_assert(std::endian::native == std::endian::little, "the stream is read as words in memory order");
static_assert(crypto_stream_chacha20_KEYBYTES == sizeof(Digest));

void PublicRandom::fill(std::span<std::uint64_t> out) {
  std::array<unsigned char, crypto_stream_chacha20_NONCEBYTES> nonce;
  std::memcpy(nonce.data(), &fills_, sizeof fills_);
  ++fills_;
  crypto_stream_chacha20(reinterpret_cast<unsigned char*>(out.data()), out.size_bytes(), nonce.data(),
                         seed_.data());
}

}  // namespace sotto
