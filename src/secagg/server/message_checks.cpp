// What the server demands of each message of a client.

#include <algorithm>

#include "secagg/server/secagg_server.h"
#include "secagg/shared/key_exchange.h"

namespace sotto::secagg {

Status SecAggServer::accept_advertisement(std::uint32_t client, ByteView bytes) {
  SOTTO_TRY(const Advertisement message, decode_advertisement(bytes));
  if (message.context != context_) return bad_input("the keys are for another round");
  const ClientKeys& keys = message.keys;
  if (keys.client != client) return bad_input("the keys are those of client {}", keys.client);
  if (!verify(keys.signature, keys_statement(context_, keys), (*identities_)[client])) {
    return bad_input("the keys are not signed by the registered identity");
  }
  // Checked here so that a copied or worthless key costs its sender the round and not its neighbours.
  if (has_small_order(keys.channel_key) || has_small_order(keys.mask_key)) {
    return bad_input("a public key has small order");
  }
  if (!known_keys_.insert(keys.channel_key).second || !known_keys_.insert(keys.mask_key).second) {
    return bad_input("a public key that is there already");
  }
  keys_[client] = keys;
  return {};
}

Status SecAggServer::accept_shares(std::uint32_t client, ByteView bytes) {
  SOTTO_TRY(const DealtShares message, decode_dealt_shares(bytes, round_.group.clients));
  if (message.transcript != transcript_) return bad_input("the shares are for another round");
  std::vector<std::uint32_t> expected;
  for (const std::uint32_t neighbour : graph_.neighbours(client)) {
    if (advertised_.contains(neighbour)) expected.push_back(neighbour);
  }
  if (!std::equal(expected.begin(), expected.end(), message.shares.begin(), message.shares.end(),
                  [](std::uint32_t neighbour, const AddressedShares& shares) {
                    return neighbour == shares.client;
                  })) {
    return bad_input("the shares are not for exactly the neighbours that advertised");
  }
  if (message.is_signed != active_server()) {
    return bad_input("shares are signed when, and only when, the server may be active");
  }
  // Whether they are signed rightly is for the receivers to see: a wrong signature is an edge that does not
  // fit, and looking at all of them here would be the most of the server's work.
  self_seed_commitments_[client] = message.self_seed_commitment;
  for (const AddressedShares& shares : message.shares) {
    AddressedShares& letter = mail_[shares.client].emplace_back(shares);
    letter.client = client;
  }
  return {};
}

Status SecAggServer::accept_vector(std::uint32_t client, ByteView bytes) {
  SOTTO_TRY(const MaskedVector message, decode_masked_vector(bytes, round_.vector));
  if (message.transcript != transcript_) return bad_input("the vector is for another round");
  if (active_server() != message.signature.has_value()) {
    return bad_input("vectors are signed when, and only when, the server may be active");
  }
  if (message.signature) {
    if (!verify(*message.signature, sharing_statement(transcript_, sharing_), (*identities_)[client])) {
      return bad_input("the signature over the sharing clients is wrong");
    }
    sharing_signatures_[client] = *message.signature;
  }
  SOTTO_CHECK(sum_.add_packed(message.packed));
  uploaded_.insert(client);
  return {};
}

Status SecAggServer::accept_confirmation(std::uint32_t client, ByteView bytes) {
  SOTTO_TRY(const ArrivalsSignature message, decode_arrivals_signature(bytes));
  if (message.transcript != transcript_) return bad_input("the confirmation is for another round");
  if (!verify(message.signature, arrivals_statement(transcript_, sharing_, uploaded_),
              (*identities_)[client])) {
    return bad_input("the signature over the arrivals is wrong");
  }
  arrivals_signatures_[client] = message.signature;
  return {};
}

const AddressedShares* SecAggServer::dealt_by(std::uint32_t dealer, std::uint32_t receiver) const {
  const auto& letters = mail_[receiver];
  const auto found = std::lower_bound(
      letters.begin(), letters.end(), dealer,
      [](const AddressedShares& letter, std::uint32_t client) { return letter.client < client; });
  return found != letters.end() && found->client == dealer ? &*found : nullptr;
}

Status SecAggServer::accept_revealed(std::uint32_t client, ByteView bytes) {
  SOTTO_TRY(const RevealedShares message, decode_revealed_shares(bytes, round_.group.clients));
  if (message.transcript != transcript_) return bad_input("the shares are from another round");
  for (const RevealedShare& share : message.shares) {
    const AddressedShares* dealt = dealt_by(share.client, client);
    if (dealt == nullptr) return bad_input("a share of client {}, who gave it none", share.client);
    // An honest client holds no share that is not the one committed to: it looked before it uploaded.
    const bool arrived = uploaded_.contains(share.client);
    const Digest& committed = arrived ? dealt->commitments.self_mask : dealt->commitments.mask_key;
    const auto kind = arrived ? SeedKind::self_mask : SeedKind::mask_key;
    if (commitment_to_share(share.share, kind, {transcript_, share.client, client}) != committed) {
      return bad_input("the share of client {} is not the one it was dealt", share.client);
    }
  }
  for (const RevealedShare& share : message.shares) {
    revealed_[share.client].push_back({client + 1, share.share});
  }
  return {};
}

}  // namespace sotto::secagg
