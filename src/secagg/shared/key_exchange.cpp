#include "secagg/shared/key_exchange.h"

#include <sodium.h>

#include <string_view>

#include "secagg/shared/field_hash.h"
#include "secagg/shared/key_derivation.h"

namespace sotto {

namespace {

std::string_view purpose_of(KeyUse use) {
  return use == KeyUse::channel ? "sotto secagg channel key pair 1" : "sotto secagg mask key pair 1";
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

Result<KeyPair> KeyPair::from_seed(const Seed& seed, KeyUse use, const Digest& round_context) {
  KeyPair pair;
  SOTTO_TRY(pair.secret_, derive_key(seed.view(), purpose_of(use), round_context));
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
  SOTTO_TRY(keys.sending, derive(self, peer));
  SOTTO_TRY(keys.receiving, derive(peer, self));
  return keys;
}

Result<Key> self_mask_key(const Seed& seed, std::uint32_t client, const Digest& transcript) {
  return derive_key(seed.view(), "sotto secagg self mask 1",
                    FieldHash("self mask").bytes(transcript).number(client).finish());
}

}  // namespace sotto
