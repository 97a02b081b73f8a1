#pragma once
// X25519 key pairs made from a seed, and the keys two clients derive from them.

#include <cstdint>
#include <span>

#include "base/result.h"
#include "secagg/shared/bytes.h"

namespace sotto::secagg {

// Ed25519 identities. Assumption of the whole protocol: a device learns the identity keys of its group from a
// registry that the aggregation server cannot write to.

// The long-lived signing key of one device, operator or witness. Outlives many rounds; wiped with the object.
class Identity {
 public:
  static Identity create(privacy::DeviceRandom random);
  // The same key whenever it is made of the same seed: for keys that are kept.
  static Identity from_seed(const Key& seed);
  Key seed() const { return Key(secret_.view().first<32>()); }

  const IdentityKey& public_key() const { return public_key_; }
  Signature sign(const Digest& statement) const;

 private:
  Identity() = default;
  SecretBytes<64> secret_;
  IdentityKey public_key_{};
};

bool verify(const Signature& signature, const Digest& statement, const IdentityKey& signer);

// HKDF-SHA256 (RFC 5869) out of libsodium's HMAC. Fills all of `out`, at most 255 · 32 bytes. Thread-safe.
void hkdf_sha256(ByteView secret, ByteView salt, ByteView info, std::span<std::uint8_t> out);

// Every client has one of each per round: one to encrypt shares to it, one to agree on masks with it.
enum class KeyUse : std::uint8_t { channel, mask };

// A pair for one round. The seed and not the secret key is what gets shared out: a clamped X25519 key is
// larger than the field of the sharing. Moves only; the secret is wiped with the object.
class KeyPair {
 public:
  // Deterministic: the server rebuilds a dropped client's pair from its reconstructed seed.
  static Result<KeyPair> from_seed(const Seed& seed, KeyUse use, const Digest& round_context);

  const PublicKey& public_key() const { return public_key_; }
  // X25519. Refuses public keys of small order, with which the outcome would be no secret.
  Result<Key> agree(const PublicKey& peer) const;

 private:
  KeyPair() = default;
  Key secret_;
  PublicKey public_key_{};
};

// True for the few public keys with which every agreement gives zero.
bool has_small_order(const PublicKey& key);

struct KeyHolder {
  std::uint32_t client = 0;
  PublicKey key{};
};

// The key of the mask between two clients: both get the same, in whichever order they are named. Bound to the
// transcript (and through it to the round, its parameters and everybody's keys).
Result<Key> pair_mask_key(const KeyPair& own, std::uint32_t own_client, const KeyHolder& peer,
                          const Digest& transcript);

// The keys under which two clients seal shares for each other: one per direction, each for one message.
struct ShareKeys {
  Key sending;
  Key receiving;
};
Result<ShareKeys> share_keys_between(const KeyPair& own, std::uint32_t own_client, const KeyHolder& peer,
                                     const Digest& transcript);

// The key of the mask a client puts on its own vector.
Key self_mask_key(const Seed& seed, std::uint32_t client, const Digest& transcript);

}  // namespace sotto::secagg
