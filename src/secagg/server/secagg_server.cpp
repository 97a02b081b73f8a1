#include "secagg/server/secagg_server.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace sotto {

namespace {

Digest draw(RandomSource& random) {
  std::array<std::uint64_t, 4> words{};
  random.fill(words);
  Digest result;
  std::memcpy(result.data(), words.data(), result.size());
  return result;
}

MemberSet everybody(std::uint32_t clients) {
  MemberSet set(clients);
  for (std::uint32_t client = 0; client < clients; ++client) set.insert(client);
  return set;
}

Status require(std::uint32_t found, std::uint32_t needed, std::string_view what) {
  if (found >= needed) return {};
  return bad_input("{} {}, {} are needed", found, what, needed);
}

}  // namespace

std::string_view name_of(ServerPhase phase) {
  switch (phase) {
    case ServerPhase::advertising:
      return "advertising";
    case ServerPhase::sharing:
      return "sharing";
    case ServerPhase::uploading:
      return "uploading";
    case ServerPhase::confirming:
      return "confirming";
    case ServerPhase::unmasking:
      return "unmasking";
    case ServerPhase::done:
      return "done";
    case ServerPhase::failed:
      return "failed";
  }
  return "unknown";
}

SecAggServer::SecAggServer(const Round& round, GroupIdentities identities, RingVector sum)
    : round_(round),
      identities_(std::move(identities)),
      identities_hash_(hash_of_identities(*identities_)),
      context_(context_of(round, identities_hash_)),
      graph_(round.group.clients, round.group.degree, round.graph_seed),
      uploaded_(round.group.clients),
      keys_(round.group.clients),
      commitments_(round.group.clients),
      mail_(round.group.clients),
      sharing_signatures_(round.group.clients),
      arrivals_signatures_(round.group.clients),
      confirmed_(round.group.clients),
      revealed_(round.group.clients),
      sum_(std::move(sum)) {
  begin(ServerPhase::advertising, everybody(round.group.clients));
}

Result<SecAggServer> SecAggServer::create(const GroupParameters& group, const VectorShape& vector,
                                          const Digest& order_hash, GroupIdentities identities,
                                          RandomSource& random) {
  if (sodium_init() < 0) return failed("libsodium did not start");
  Round round{.order_hash = order_hash, .group = group, .vector = vector};
  SOTTO_CHECK(check_round(round));
  SOTTO_CHECK(check_identities(*identities, group.clients));
  round.id = draw(random);
  round.graph_seed = draw(random);
  SOTTO_TRY(auto sum, RingVector::zeros(vector.entries, vector.bits));
  return SecAggServer(round, std::move(identities), std::move(sum));
}

void SecAggServer::begin(ServerPhase phase, const MemberSet& asked) {
  phase_ = phase;
  asked_ = asked;
  answered_ = MemberSet(round_.group.clients);
}

Result<Bytes> SecAggServer::message_for(std::uint32_t client) const {
  if (!takes_part(client)) {
    return bad_input("client {} takes no part in the phase '{}'", client, name_of(phase_));
  }
  switch (phase_) {
    case ServerPhase::advertising:
      return encode(Invitation{round_, identities_hash_});
    case ServerPhase::sharing: {
      Roster roster{context_, transcript_, advertised_, {}};
      for (const std::uint32_t neighbour : graph_.neighbours(client)) {
        if (advertised_.contains(neighbour)) roster.neighbours.push_back(keys_[neighbour]);
      }
      return encode(roster);
    }
    case ServerPhase::uploading: {
      DeliveredShares delivered{transcript_, sharing_, {}};
      for (const AddressedShares& letter : mail_[client]) {
        if (sharing_.contains(letter.client)) delivered.shares.push_back(letter);
      }
      std::sort(delivered.shares.begin(), delivered.shares.end(),
                [](const auto& a, const auto& b) { return a.client < b.client; });
      return encode(delivered);
    }
    case ServerPhase::confirming: {
      Arrivals arrivals{transcript_, uploaded_, {}};
      for (std::uint32_t sender = 0; sender < round_.group.clients; ++sender) {
        if (uploaded_.contains(sender)) arrivals.signatures.push_back({sender, sharing_signatures_[sender]});
      }
      return encode(arrivals);
    }
    case ServerPhase::unmasking: {
      UnmaskRequest request{transcript_, uploaded_, {}};
      for (std::uint32_t signer = 0; signer < round_.group.clients; ++signer) {
        if (confirmed_.contains(signer)) request.signatures.push_back({signer, arrivals_signatures_[signer]});
      }
      return encode(request);
    }
    case ServerPhase::done:
    case ServerPhase::failed:
      break;
  }
  return bad_input("the round is over");
}

Status SecAggServer::receive(std::uint32_t client, ByteView message) {
  if (!takes_part(client)) {
    return bad_input("client {} takes no part in the phase '{}'", client, name_of(phase_));
  }
  auto accepted = answered_.contains(client) ? bad_input("a second answer in the phase '{}'", name_of(phase_))
                                             : accept(client, message);
  if (accepted) {
    answered_.insert(client);
    return {};
  }
  // Out. Its answers of this phase are forgotten, except a vector: that is in the sum already.
  asked_.erase(client);
  answered_.erase(client);
  confirmed_.erase(client);
  return tl::unexpected(std::move(accepted).error().in(fmt::format("client {}", client)));
}

Status SecAggServer::accept(std::uint32_t client, ByteView message) {
  switch (phase_) {
    case ServerPhase::advertising:
      return accept_advertisement(client, message);
    case ServerPhase::sharing:
      return accept_shares(client, message);
    case ServerPhase::uploading:
      return accept_vector(client, message);
    case ServerPhase::confirming:
      return accept_confirmation(client, message);
    case ServerPhase::unmasking:
      return accept_revealed(client, message);
    case ServerPhase::done:
    case ServerPhase::failed:
      break;
  }
  return bad_input("the round is over");
}

Status SecAggServer::close_phase() {
  Status closed = advance();
  if (!closed) {
    failure_ = fmt::format("the round failed while {}: {}", name_of(phase_), closed.error().message);
    begin(ServerPhase::failed, MemberSet(round_.group.clients));
    SOTTO_TRY(sum_, RingVector::zeros(0, round_.vector.bits));
    return failed("{}", failure_);
  }
  return {};
}

Status SecAggServer::advance() {
  const GroupParameters& group = round_.group;
  switch (phase_) {
    case ServerPhase::advertising: {
      advertised_ = answered_;
      SOTTO_CHECK(require(advertised_.count(), group.minimum_alive, "clients advertised keys"));
      std::vector<ClientKeys> all;
      for (std::uint32_t client = 0; client < group.clients; ++client) {
        if (advertised_.contains(client)) all.push_back(keys_[client]);
      }
      transcript_ = transcript_of(context_, all);
      begin(ServerPhase::sharing, advertised_);
      return {};
    }
    case ServerPhase::sharing:
      sharing_ = answered_;
      SOTTO_CHECK(require(sharing_.count(), group.minimum_alive, "clients shared"));
      begin(ServerPhase::uploading, sharing_);
      return {};
    case ServerPhase::uploading:
      SOTTO_CHECK(require(uploaded_.count(), group.minimum_alive, "vectors arrived"));
      mail_.clear();  // delivered
      begin(active_server() ? ServerPhase::confirming : ServerPhase::unmasking, answered_);
      return {};
    case ServerPhase::confirming:
      SOTTO_CHECK(require(confirmed_.count(), group.quorum, "clients confirmed the arrivals"));
      begin(ServerPhase::unmasking, answered_);
      return {};
    case ServerPhase::unmasking:
      SOTTO_CHECK(unmask());
      begin(ServerPhase::done, MemberSet(group.clients));
      return {};
    case ServerPhase::done:
    case ServerPhase::failed:
      break;
  }
  return bad_input("the round is over");
}

}  // namespace sotto
