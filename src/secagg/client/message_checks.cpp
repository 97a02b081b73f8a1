// What a client demands of each message of the server.

#include <algorithm>
#include <vector>

#include "secagg/client/secagg_client.h"
#include "secagg/shared/key_exchange.h"

namespace sotto::secagg {

namespace {

// Equal keys would make two clients' masks the same; a copied key also shows that its sender is not its
// owner.
bool has_repeated_key(const std::vector<ClientKeys>& peers, const RoundSecrets& own) {
  std::vector<PublicKey> keys{own.channel.public_key(), own.mask.public_key()};
  for (const ClientKeys& peer : peers) {
    keys.push_back(peer.channel_key);
    keys.push_back(peer.mask_key);
  }
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

}  // namespace

Status SecAggClient::check_roster(const Roster& roster) const {
  const GroupParameters& group = round_.group;
  if (roster.context != context_) return bad_input("the roster belongs to another round");
  if (!roster.advertised.contains(index_)) return bad_input("the roster does not have this client in it");
  if (roster.advertised.count() < group.minimum_alive) {
    return bad_input("{} clients advertised keys, {} are needed", roster.advertised.count(),
                     group.minimum_alive);
  }
  std::vector<std::uint32_t> expected;
  std::copy_if(neighbours_.begin(), neighbours_.end(), std::back_inserter(expected),
               [&](std::uint32_t client) { return roster.advertised.contains(client); });
  if (expected.size() < group.threshold) {
    return bad_input("{} neighbours are there, {} shares must be able to open a secret", expected.size(),
                     group.threshold);
  }
  if (!std::equal(expected.begin(), expected.end(), roster.neighbours.begin(), roster.neighbours.end(),
                  [](std::uint32_t client, const ClientKeys& keys) { return client == keys.client; })) {
    return bad_input("the roster does not hold the keys of exactly this client's neighbours");
  }
  if (has_repeated_key(roster.neighbours, *secrets_)) return bad_input("one public key is there twice");
  for (const ClientKeys& keys : roster.neighbours) {
    if (!verify(keys.signature, keys_statement(context_, keys), (*group_)[keys.client])) {
      return bad_input("the keys of client {} are not signed by its registered identity", keys.client);
    }
  }
  if (group.complete_graph()) {
    // We see everybody's keys, so the transcript is ours to compute. With fewer neighbours it has to be
    // believed, which is why an active server gets the complete graph.
    std::vector<ClientKeys> all = roster.neighbours;
    const ClientKeys own{index_, secrets_->channel.public_key(), secrets_->mask.public_key(), {}};
    const auto behind =
        std::upper_bound(all.begin(), all.end(), index_,
                         [](std::uint32_t index, const ClientKeys& keys) { return index < keys.client; });
    all.insert(behind, own);
    if (transcript_of(context_, all) != roster.transcript) {
      return bad_input("the transcript is not that of the keys in the roster");
    }
  }
  return {};
}

Status SecAggClient::check_delivered(const DeliveredShares& delivered) const {
  const GroupParameters& group = round_.group;
  if (delivered.transcript != transcript_) return bad_input("the shares belong to another round");
  if (delivered.is_signed != active_server()) {
    return bad_input("shares are signed when, and only when, the server may be active");
  }
  if (!delivered.sharing.contains(index_)) return bad_input("our own shares did not count");
  if (delivered.sharing.count() < group.minimum_alive) {
    return bad_input("{} clients shared, {} are needed", delivered.sharing.count(), group.minimum_alive);
  }
  std::vector<std::uint32_t> expected;
  for (const ClientKeys& peer : peers_) {
    if (delivered.sharing.contains(peer.client)) expected.push_back(peer.client);
  }
  if (expected.size() < group.threshold) {
    return bad_input("{} neighbours shared, {} shares must be able to open a secret", expected.size(),
                     group.threshold);
  }
  if (!std::equal(
          expected.begin(), expected.end(), delivered.shares.begin(), delivered.shares.end(),
          [](std::uint32_t client, const AddressedShares& shares) { return client == shares.client; })) {
    return bad_input("the shares are not those of exactly the neighbours that shared");
  }
  // Whoever shares must have advertised. With fewer neighbours than everybody, only theirs can be checked.
  if (group.complete_graph() && expected.size() + 1 != delivered.sharing.count()) {
    return bad_input("somebody shares who advertised no keys");
  }
  return {};
}

Status SecAggClient::check_alive(const MemberSet& alive) const {
  if (!alive.subset_of(sharing_)) return bad_input("a vector arrived from somebody who did not share");
  if (!alive.contains(index_)) return bad_input("our own vector is said not to have arrived");
  if (alive.count() < round_.group.minimum_alive) {
    return bad_input("{} vectors arrived: with fewer than {} nothing is revealed", alive.count(),
                     round_.group.minimum_alive);
  }
  return {};
}

Status SecAggClient::check_signatures(const std::vector<ClientSignature>& signatures,
                                      const Digest& statement) const {
  for (const ClientSignature& signature : signatures) {
    if (!verify(signature.signature, statement, (*group_)[signature.client])) {
      return bad_input("client {} did not sign what this client was shown: the server shows different things",
                       signature.client);
    }
  }
  return {};
}

}  // namespace sotto::secagg
