#pragma once
// The two shares one client gives another, sealed so that the server that carries them cannot read them, and
// committed to so that neither of the two can say later that they were others.

#include <array>
#include <cstdint>

#include "base/result.h"
#include "secagg/shared/bytes.h"
#include "secagg/shared/shamir.h"

namespace sotto::secagg {

// What a client holds for a neighbour. It will reveal exactly one of the two.
struct SharePair {
  Share mask_key;   // of the seed behind the neighbour's mask key pair: revealed when it dropped out
  Share self_mask;  // of the seed of the neighbour's own mask: revealed when its vector arrived
};

// Which of the two. Values are hashed into commitments.
enum class SeedKind : std::uint8_t { mask_key = 1, self_mask = 2 };

// One edge of the graph in one direction.
struct Dealing {
  Digest transcript{};
  std::uint32_t dealer = 0;
  std::uint32_t receiver = 0;
};

// Published by the dealer with the sealed shares. Who reveals another share than the one committed to lies;
// when `threshold` shares that were committed to do not open the secret, the dealer did.
struct ShareCommitments {
  Digest mask_key{};
  Digest self_mask{};
  bool operator==(const ShareCommitments&) const = default;
};
Digest commitment_to_share(ByteView share, SeedKind kind, const Dealing& dealing);
ShareCommitments commit(const SharePair& shares, const Dealing& dealing);

// The commitment to the seed of a client's own mask, which shows later that shares gave the right one. (That
// to the seed of its mask keys is the public key.)
Digest commitment_to_self_seed(const Seed& seed, std::uint32_t client, const Digest& transcript);

inline constexpr std::size_t sealed_bytes = 2 * share_bytes + 16;
using SealedShares = std::array<std::uint8_t, sealed_bytes>;

// XChaCha20-Poly1305 under a key that serves for this one message (ShareKeys), hence with a fixed nonce.
Result<SealedShares> seal(const SharePair& shares, const Key& key);
// Fails when the bytes were not sealed under this key.
Result<SharePair> open(const SealedShares& sealed, const Key& key);

}  // namespace sotto::secagg
