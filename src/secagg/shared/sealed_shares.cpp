#include "secagg/shared/sealed_shares.h"

#include <sodium.h>

#include <algorithm>

#include "secagg/shared/field_hash.h"

namespace sotto::secagg {

static_assert(crypto_aead_xchacha20poly1305_ietf_ABYTES == sealed_bytes - 2 * share_bytes);
static_assert(crypto_aead_xchacha20poly1305_ietf_KEYBYTES == 32);

namespace {

constexpr std::array<std::uint8_t, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES> nonce{};

}  // namespace

Digest commitment_to_share(ByteView share, SeedKind kind, const Dealing& dealing) {
  return commitment_to(share, FieldHash("sotto secagg share 2")
                                  .bytes(dealing.transcript)
                                  .number(dealing.dealer)
                                  .number(dealing.receiver)
                                  .number(static_cast<std::uint64_t>(kind))
                                  .finish());
}

ShareCommitments commit(const SharePair& shares, const Dealing& dealing) {
  return {commitment_to_share(shares.mask_key.view(), SeedKind::mask_key, dealing),
          commitment_to_share(shares.self_mask.view(), SeedKind::self_mask, dealing)};
}

Digest commitment_to_self_seed(const Seed& seed, std::uint32_t client, const Digest& transcript) {
  return commitment_to(seed.view(),
                       FieldHash("sotto secagg self-mask seed 2").bytes(transcript).number(client).finish());
}

Result<SealedShares> seal(const SharePair& shares, const Key& key) {
  SecretBytes<2 * share_bytes> plain;
  std::copy_n(shares.mask_key.data(), share_bytes, plain.data());
  std::copy_n(shares.self_mask.data(), share_bytes, plain.data() + share_bytes);
  SealedShares sealed;
  if (crypto_aead_xchacha20poly1305_ietf_encrypt(sealed.data(), nullptr, plain.data(), 2 * share_bytes,
                                                 nullptr, 0, nullptr, nonce.data(), key.data()) != 0) {
    return failed("libsodium could not seal the shares");
  }
  return sealed;
}

Result<SharePair> open(const SealedShares& sealed, const Key& key) {
  SecretBytes<2 * share_bytes> plain;
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(plain.data(), nullptr, nullptr, sealed.data(), sealed_bytes,
                                                 nullptr, 0, nonce.data(), key.data()) != 0) {
    return bad_input("sealed shares do not open: made for somebody else, for another round, or damaged");
  }
  SharePair shares;
  std::copy_n(plain.data(), share_bytes, shares.mask_key.data());
  std::copy_n(plain.data() + share_bytes, share_bytes, shares.self_mask.data());
  return shares;
}

}  // namespace sotto::secagg
