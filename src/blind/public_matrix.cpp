#include "blind/public_matrix.h"

#include <sodium.h>

#include <bit>

#include "base/byte_codec.h"
#include "base/chain_hash.h"

namespace sotto::blind {

static_assert(std::endian::native == std::endian::little, "the stream is read as words in memory order");

Result<std::vector<RingWords>> public_matrix(const Shape& shape) {
  SOTTO_CHECK(check(shape));
  ByteWriter name;
  name.number(shape.dimension);
  name.number(shape.clusters);
  SOTTO_TRY(const ChainHash key, chain_hash({"sotto blind matrix", name.bytes()}));
  static_assert(sizeof(ChainHash) == crypto_stream_chacha20_ietf_KEYBYTES);
  constexpr std::array<unsigned char, crypto_stream_chacha20_ietf_NONCEBYTES> nonce{};
  std::vector<RingWords> matrix((shape.columns() + ring_degree - 1) / ring_degree);
  crypto_stream_chacha20_ietf(reinterpret_cast<unsigned char*>(matrix.data()),
                              matrix.size() * sizeof(RingWords), nonce.data(), key.data());
  return matrix;
}

}  // namespace sotto::blind
