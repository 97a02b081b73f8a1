#include "secagg/shared/key_exchange.h"

#include <sodium.h>

#include <algorithm>
#include <string_view>

#include "secagg/shared/field_hash.h"

namespace sotto::secagg {

Identity Identity::create(privacy::DeviceRandom random) { return from_seed(Key::random(random)); }

Identity Identity::from_seed(const Key& seed) {
  Identity identity;
  crypto_sign_seed_keypair(identity.public_key_.data(), identity.secret_.data(), seed.data());
  return identity;
}

Signature Identity::sign(const Digest& statement) const {
  Signature signature;
  crypto_sign_detached(signature.data(), nullptr, statement.data(), statement.size(), secret_.data());
  return signature;
}

bool verify(const Signature& signature, const Digest& statement, const IdentityKey& signer) {
  return crypto_sign_verify_detached(signature.data(), statement.data(), statement.size(), signer.data()) ==
         0;
}

namespace {

std::string_view purpose_of(KeyUse use) {
  return use == KeyUse::channel ? "sotto secagg channel key pair 1" : "sotto secagg mask key pair 1";
}

Key hmac_sha256(ByteView key, std::initializer_list<ByteView> message) {
  crypto_auth_hmacsha256_state state;
  // libsodium's arguments may not be null, and an empty view is.
  static constexpr std::uint8_t nothing = 0;
  crypto_auth_hmacsha256_init(&state, key.empty() ? &nothing : key.data(), key.size());
  for (const ByteView part : message) {
    if (!part.empty()) crypto_auth_hmacsha256_update(&state, part.data(), part.size());
  }
  Key tag;
  crypto_auth_hmacsha256_final(&state, tag.data());
  sodium_memzero(&state, sizeof state);
  return tag;
}

// The one way this protocol turns a secret into a key for one purpose. `binding` is the hash of everything
// the key must depend on: round, transcript, both clients, both public keys (FieldHash keeps the fields
// apart).
Key derive_key(ByteView secret, std::string_view purpose, const Digest& binding) {
  // The digest has a fixed length and comes last, so purpose and binding cannot run into each other.
  Bytes info(purpose.begin(), purpose.end());
  info.insert(info.end(), binding.begin(), binding.end());
  Key key;
  hkdf_sha256(secret, {}, info, key.span());
  return key;
}

Digest pair_binding(std::string_view label, const Digest& transcript, const KeyHolder& first,
                    const KeyHolder& second) {
  return FieldHash(label)
      .bytes(transcript)
      .number(first.client)
      .bytes(first.key)
      .number(second.client)
      .bytes(second.key)
      .finish();
}

}  // namespace

void hkdf_sha256(ByteView secret, ByteView salt, ByteView info, std::span<std::uint8_t> out) {
  const Key extracted = hmac_sha256(salt, {secret});
  Key block;
  std::size_t length = 0;  // of the block before: none before the first
  for (std::uint8_t counter = 1; !out.empty(); ++counter) {
    block = hmac_sha256(extracted.view(), {block.view().first(length), info, ByteView(&counter, 1)});
    length = block.view().size();
    const std::size_t count = std::min(out.size(), length);
    std::copy_n(block.data(), count, out.data());
    out = out.subspan(count);
  }
}

Result<KeyPair> KeyPair::from_seed(const Seed& seed, KeyUse use, const Digest& round_context) {
  KeyPair pair;
  pair.secret_ = derive_key(seed.view(), purpose_of(use), round_context);
  if (crypto_scalarmult_base(pair.public_key_.data(), pair.secret_.data()) != 0) {
    return failed("libsodium could not make a public key");
  }
  return pair;
}

Result<Key> KeyPair::agree(const PublicKey& peer) const {
  Key shared;
  if (crypto_scalarmult(shared.data(), secret_.data(), peer.data()) != 0) {
    return bad_input("a public key has small order: what is agreed with it would be no secret");
  }
  return shared;
}

bool has_small_order(const PublicKey& key) {
  // Clamped scalars are multiples of the cofactor: any of them takes exactly these keys to zero.
  PublicKey scalar{}, out;
  scalar.fill(0x55);
  return crypto_scalarmult(out.data(), scalar.data(), key.data()) != 0;
}

Result<Key> pair_mask_key(const KeyPair& own, std::uint32_t own_client, const KeyHolder& peer,
                          const Digest& transcript) {
  const KeyHolder self{own_client, own.public_key()};
  const bool first = own_client < peer.client;
  SOTTO_TRY(const Key shared, own.agree(peer.key));
  return derive_key(shared.view(), "sotto secagg pair mask 1",
                    pair_binding("pair mask", transcript, first ? self : peer, first ? peer : self));
}

Result<ShareKeys> share_keys_between(const KeyPair& own, std::uint32_t own_client, const KeyHolder& peer,
                                     const Digest& transcript) {
  const KeyHolder self{own_client, own.public_key()};
  SOTTO_TRY(const Key shared, own.agree(peer.key));
  ShareKeys keys;
  const auto derive = [&](const KeyHolder& from, const KeyHolder& to) {
    return derive_key(shared.view(), "sotto secagg share 1", pair_binding("share", transcript, from, to));
  };
  keys.sending = derive(self, peer);
  keys.receiving = derive(peer, self);
  return keys;
}

Key self_mask_key(const Seed& seed, std::uint32_t client, const Digest& transcript) {
  return derive_key(seed.view(), "sotto secagg self mask 1",
                    FieldHash("self mask").bytes(transcript).number(client).finish());
}

}  // namespace sotto::secagg
