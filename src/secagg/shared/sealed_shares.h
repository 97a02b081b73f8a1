#pragma once
// The two shares one client gives another, sealed so that the server that carries them cannot read them.

#include <array>
#include <cstdint>

#include "base/result.h"
#include "secagg/shared/bytes.h"
#include "secagg/shared/secret_bytes.h"
#include "secagg/shared/shamir.h"

namespace sotto {

// What a client holds for a neighbour. It will reveal exactly one of the two.
struct SharePair {
  Share mask_key;   // of the seed behind the neighbour's mask key pair: revealed when it dropped out
  Share self_mask;  // of the seed of the neighbour's own mask: revealed when its vector arrived
};

inline constexpr std::size_t kSealedBytes = 2 * kShareBytes + 16;
using SealedShares = std::array<std::uint8_t, kSealedBytes>;

// XChaCha20-Poly1305 under a key that serves for this one message (ShareKeys), hence with a fixed nonce.
Result<SealedShares> seal(const SharePair& shares, const Key& key);
// Fails when the bytes were not sealed under this key.
Result<SharePair> open(const SealedShares& sealed, const Key& key);

}  // namespace sotto
