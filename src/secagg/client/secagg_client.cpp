#include "secagg/client/secagg_client.h"

#include <sodium.h>

#include <algorithm>
#include <new>

#include "secagg/shared/neighbour_graph.h"
#include "secagg/shared/shamir.h"

namespace sotto::secagg {

RoundSecrets::RoundSecrets(Seed seed, KeyPair channel_pair, KeyPair mask_pair, privacy::DeviceRandom random,
                           std::pmr::memory_resource* memory)
    : mask_seed(std::move(seed)),
      self_seed(Seed::random(random)),
      channel(std::move(channel_pair)),
      mask(std::move(mask_pair)),
      neighbours(memory) {}

Result<RoundSecrets::Pointer> RoundSecrets::create(const Digest& context, privacy::DeviceRandom random,
                                                   std::pmr::memory_resource* memory) {
  Seed mask_seed = Seed::random(random);
  const Seed channel_seed = Seed::random(random);
  SOTTO_TRY(auto channel, KeyPair::from_seed(channel_seed, KeyUse::channel, context));
  SOTTO_TRY(auto mask, KeyPair::from_seed(mask_seed, KeyUse::mask, context));
  void* const place = memory->allocate(sizeof(RoundSecrets), alignof(RoundSecrets));
  return Pointer(new (place)
                     RoundSecrets(std::move(mask_seed), std::move(channel), std::move(mask), random, memory),
                 Deleter{memory});
}

void RoundSecrets::Deleter::operator()(RoundSecrets* secrets) const {
  secrets->~RoundSecrets();
  // What is left are public keys and the bookkeeping of a vector; the memory goes back all zero.
  sodium_memzero(static_cast<void*>(secrets), sizeof(RoundSecrets));
  memory->deallocate(secrets, sizeof(RoundSecrets), alignof(RoundSecrets));
}

namespace {

Status check_policy(const Round& round, const ClientPolicy& policy) {
  const GroupParameters& group = round.group;
  if (round.order_hash != policy.order_hash.value) {
    return bad_input("the round is held for another order than the one this device agreed to");
  }
  if (policy.server == ServerModel::active && group.server != ServerModel::active) {
    return bad_input("the round does not protect against an active server, which this device demands");
  }
  if (group.corrupted < policy.corrupted * group.clients - 1e-9) {
    return bad_input(
        "the round allows {} of {} clients to be corrupted, this device demands a fraction of {}",
        group.corrupted, group.clients, policy.corrupted.value);
  }
  if (group.dropped > policy.dropped * group.clients + 1e-9) {
    return bad_input(
        "the round allows {} of {} clients to be lost, this device no more than a fraction of {}",
        group.dropped, group.clients, policy.dropped.value);
  }
  if (group.security_bits < policy.security_bits) {
    return bad_input("the round offers {} bits of statistical security, this device demands {}",
                     group.security_bits, policy.security_bits);
  }
  if (group.minimum_alive < policy.minimum_alive) {
    return bad_input("the round may sum as few as {} vectors, this device demands {}", group.minimum_alive,
                     policy.minimum_alive.value);
  }
  if (round.vector != policy.vector) {
    return bad_input("the round sums {} entries of {} bits, this device has {} of {}", round.vector.entries,
                     round.vector.bits, policy.vector.entries, policy.vector.bits);
  }
  return {};
}

}  // namespace

std::string_view name_of(ClientStage stage) {
  switch (stage) {
    case ClientStage::invited:
      return "invited";
    case ClientStage::advertised:
      return "advertised";
    case ClientStage::shared:
      return "shared";
    case ClientStage::uploaded:
      return "uploaded";
    case ClientStage::confirmed:
      return "confirmed";
    case ClientStage::done:
      return "done";
    case ClientStage::aborted:
      return "aborted";
  }
  return "unknown";
}

SecAggClient::SecAggClient(const Round& round, const Digest& context, std::uint32_t index,
                           const Identity& identity, GroupIdentities group, privacy::DeviceRandom random)
    : round_(round),
      context_(context),
      index_(index),
      identity_(&identity),
      group_(std::move(group)),
      random_(random) {}

Result<SecAggClient> SecAggClient::join(ByteView invitation_bytes, const ClientPolicy& policy,
                                        const Identity& identity, GroupIdentities group,
                                        privacy::DeviceRandom random, std::pmr::memory_resource* memory) {
  if (sodium_init() < 0) return failed("libsodium did not start");
  SOTTO_TRY(const Invitation invitation, decode_invitation(invitation_bytes));
  const Round& round = invitation.round;
  SOTTO_CHECK(check_policy(round, policy));
  SOTTO_CHECK(check_identities(*group, round.group.clients));
  if (hash_of_identities(*group) != invitation.identities) {
    return bad_input("the invitation is for another group than the registered one");
  }
  const auto own = std::find(group->begin(), group->end(), identity.public_key());
  if (own == group->end()) return bad_input("this device is not in the group it was invited to");
  const auto index = static_cast<std::uint32_t>(own - group->begin());

  const Digest context = context_of(round, invitation.identities);
  SecAggClient client(round, context, index, identity, std::move(group), random);
  SOTTO_TRY(client.secrets_, RoundSecrets::create(context, random, memory));
  client.neighbours_ =
      NeighbourGraph(round.group.clients, round.group.degree, round.graph_seed).neighbours(index);
  return client;
}

void SecAggClient::abort() {
  secrets_.reset();
  stage_ = ClientStage::aborted;
}

template <class Step>
Result<Bytes> SecAggClient::take(ClientStage from, ClientStage to, Step step) {
  const ClientStage found = stage_;
  stage_ = ClientStage::aborted;  // until the step has succeeded
  Result<Bytes> answer = found == from && secrets_ != nullptr
                             ? step()
                             : bad_input(
                                   "a step out of order: this client has {}, the step follows {}; each "
                                   "is taken once, so the client leaves the round",
                                   name_of(found), name_of(from));
  if (answer) stage_ = to;
  if (!answer || to == ClientStage::done) secrets_.reset();
  return answer;
}

Result<Bytes> SecAggClient::advertise() {
  return take(ClientStage::invited, ClientStage::advertised, [&] { return do_advertise(); });
}

Result<Bytes> SecAggClient::share_keys(ByteView roster) {
  return take(ClientStage::advertised, ClientStage::shared, [&]() -> Result<Bytes> {
    SOTTO_TRY(const Roster message, decode_roster(roster, round_.group.clients));
    return do_share_keys(message);
  });
}

Result<Bytes> SecAggClient::upload(ByteView delivered_shares, RingVector input) {
  return take(ClientStage::shared, ClientStage::uploaded, [&]() -> Result<Bytes> {
    SOTTO_TRY(const DeliveredShares message, decode_delivered_shares(delivered_shares, round_.group.clients));
    return do_upload(message, std::move(input));
  });
}

Result<Bytes> SecAggClient::confirm_arrivals(ByteView arrivals) {
  return take(ClientStage::uploaded, ClientStage::confirmed, [&]() -> Result<Bytes> {
    if (!active_server()) return bad_input("only rounds against an active server confirm the arrivals");
    SOTTO_TRY(const Arrivals message, decode_arrivals(arrivals, round_.group.clients));
    return do_confirm(message);
  });
}

Result<Bytes> SecAggClient::reveal(ByteView unmask_request) {
  const auto from = active_server() ? ClientStage::confirmed : ClientStage::uploaded;
  return take(from, ClientStage::done, [&]() -> Result<Bytes> {
    SOTTO_TRY(const UnmaskRequest message, decode_unmask_request(unmask_request, round_.group.clients));
    return do_reveal(message);
  });
}

Result<Bytes> SecAggClient::do_advertise() {
  ClientKeys keys{index_, secrets_->channel.public_key(), secrets_->mask.public_key(), {}};
  keys.signature = identity_->sign(keys_statement(context_, keys));
  return encode(Advertisement{context_, keys});
}

Result<Bytes> SecAggClient::do_share_keys(const Roster& roster) {
  SOTTO_CHECK(check_roster(roster));
  transcript_ = roster.transcript;
  peers_ = roster.neighbours;

  const SecretPolynomial mask_polynomial(secrets_->mask_seed, round_.group.threshold, random_);
  const SecretPolynomial self_polynomial(secrets_->self_seed, round_.group.threshold, random_);
  DealtShares dealt{
      transcript_, commitment_to_self_seed(secrets_->self_seed, index_, transcript_), {}, active_server()};
  dealt.shares.reserve(peers_.size());
  secrets_->neighbours.reserve(peers_.size());
  for (const ClientKeys& peer : peers_) {
    SOTTO_TRY(auto keys,
              share_keys_between(secrets_->channel, index_, {peer.client, peer.channel_key}, transcript_));
    const SharePair shares{mask_polynomial.share_at(peer.client + 1),
                           self_polynomial.share_at(peer.client + 1)};
    const Dealing dealing{transcript_, index_, peer.client};
    AddressedShares& addressed = dealt.shares.emplace_back();
    addressed.client = peer.client;
    addressed.commitments = commit(shares, dealing);
    SOTTO_TRY(addressed.sealed, seal(shares, keys.sending));
    if (active_server()) {
      addressed.signature =
          identity_->sign(dealing_statement(dealing, addressed.sealed, addressed.commitments));
    }
    secrets_->neighbours.push_back({std::move(keys.receiving), std::nullopt});
  }
  return encode(dealt);
}

Result<Bytes> SecAggClient::do_upload(const DeliveredShares& delivered, RingVector input) {
  SOTTO_CHECK(check_delivered(delivered));
  if (input.size() != round_.vector.entries || input.bits() != round_.vector.bits) {
    return bad_input("the round sums {} entries of {} bits, the input has {} of {}", round_.vector.entries,
                     round_.vector.bits, input.size(), input.bits());
  }
  sharing_ = delivered.sharing;

  std::vector<Mask> masks;
  masks.reserve(delivered.shares.size() + 1);
  masks.push_back({self_mask_key(secrets_->self_seed, index_, transcript_), false});
  auto message = delivered.shares.begin();
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const ClientKeys& peer = peers_[i];
    if (!sharing_.contains(peer.client)) continue;
    NeighbourSecrets& neighbour = secrets_->neighbours[i];
    neighbour.shares = shares_from(peer.client, *message++, neighbour.opening_key);
    neighbour.opening_key.wipe();
    SOTTO_TRY(auto key, pair_mask_key(secrets_->mask, index_, {peer.client, peer.mask_key}, transcript_));
    masks.push_back({std::move(key), index_ > peer.client});
  }
  SOTTO_CHECK(input.apply(masks));
  std::optional<Signature> signature;
  if (active_server()) signature = identity_->sign(sharing_statement(transcript_, sharing_));
  return encode_masked(transcript_, input, signature);
}

std::optional<SharePair> SecAggClient::shares_from(std::uint32_t dealer, const AddressedShares& delivered,
                                                   const Key& opening_key) const {
  // Shares that cannot be read, or are not those the dealer committed to, are as good as none: the edge is
  // gone, which costs nobody anything while others hold enough. Whose fault it was cannot be known here.
  const Dealing dealing{transcript_, dealer, index_};
  if (active_server() &&
      !verify(delivered.signature, dealing_statement(dealing, delivered.sealed, delivered.commitments),
              (*group_)[dealer])) {
    return std::nullopt;
  }
  auto shares = open(delivered.sealed, opening_key);
  if (!shares || commit(*shares, dealing) != delivered.commitments) return std::nullopt;
  return std::move(*shares);
}

Result<Bytes> SecAggClient::do_confirm(const Arrivals& arrivals) {
  if (arrivals.transcript != transcript_) return bad_input("the arrivals are those of another round");
  SOTTO_CHECK(check_alive(arrivals.alive));
  // Everybody in the sum must have made masks for the same set of clients as we did. Otherwise a server could
  // show each client another set, and part of the masks between honest clients would never be made.
  if (arrivals.signatures.size() != arrivals.alive.count()) {
    return bad_input("{} vectors arrived but {} came with a signature", arrivals.alive.count(),
                     arrivals.signatures.size());
  }
  for (const ClientSignature& signature : arrivals.signatures) {
    if (!arrivals.alive.contains(signature.client)) {
      return bad_input("a signature of client {}, whose vector did not arrive", signature.client);
    }
  }
  SOTTO_CHECK(check_signatures(arrivals.signatures, sharing_statement(transcript_, sharing_)));
  confirmed_ = arrivals.alive;
  return encode(
      ArrivalsSignature{transcript_, identity_->sign(arrivals_statement(transcript_, sharing_, confirmed_))});
}

Result<Bytes> SecAggClient::do_reveal(const UnmaskRequest& request) {
  if (request.transcript != transcript_) return bad_input("the request belongs to another round");
  SOTTO_CHECK(check_alive(request.alive));
  if (active_server()) {
    if (request.alive != confirmed_) {
      return bad_input("the request names other arrivals than were confirmed: the server is cheating");
    }
    for (const ClientSignature& signature : request.signatures) {
      if (!request.alive.contains(signature.client)) {
        return bad_input("a confirmation by client {}, whose vector did not arrive", signature.client);
      }
    }
    if (request.signatures.size() < round_.group.quorum) {
      return bad_input("{} clients confirmed the arrivals, {} are needed", request.signatures.size(),
                       round_.group.quorum);
    }
    SOTTO_CHECK(check_signatures(request.signatures, arrivals_statement(transcript_, sharing_, confirmed_)));
  }
  RevealedShares revealed{transcript_, {}};
  revealed.shares.reserve(peers_.size());
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto& shares = secrets_->neighbours[i].shares;
    if (!shares) continue;
    const Share& share = request.alive.contains(peers_[i].client) ? shares->self_mask : shares->mask_key;
    RevealedShare& out = revealed.shares.emplace_back();
    out.client = peers_[i].client;
    std::copy(share.view().begin(), share.view().end(), out.share.begin());
  }
  return encode(revealed);
}

}  // namespace sotto::secagg
