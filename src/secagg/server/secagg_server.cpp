#include "secagg/server/secagg_server.h"

#include <sodium.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace sotto::secagg {

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
      confirmed_(round.group.clients),
      guilty_(round.group.clients),
      keys_(round.group.clients),
      taken_(round.group.clients),
      self_seed_commitments_(round.group.clients),
      mail_(round.group.clients),
      sharing_signatures_(round.group.clients),
      arrivals_signatures_(round.group.clients),
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
  return compose(client, phase_);
}

// From what is settled when the phase begins, so that it is the same whenever it is asked for.
Result<Bytes> SecAggServer::compose(std::uint32_t client, ServerPhase phase) const {
  switch (phase) {
    case ServerPhase::advertising:
      return encode(Invitation{round_, identities_hash_});
    case ServerPhase::sharing: {
      Roster roster{context_, transcript_, advertised_, {}};
      for (const std::uint32_t neighbour : graph_.neighbours(client)) {
        if (advertised_.contains(neighbour)) roster.neighbours.push_back(keys_[neighbour]);
      }
      return encode(roster);
    }
    case ServerPhase::uploading:
      return encode(DeliveredShares{transcript_, sharing_, mail_[client], active_server()});
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

SecAggServer::Fingerprint SecAggServer::fingerprint_of(ByteView message) {
  const XXH128_hash_t hash = XXH3_128bits(message.data(), message.size());
  return {hash.low64, hash.high64};
}

Result<ServerPhase> SecAggServer::receive(std::uint32_t client, ByteView message) {
  if (client >= round_.group.clients) {
    return bad_input("there is no client {} in a group of {}", client, round_.group.clients);
  }
  const Fingerprint fingerprint = fingerprint_of(message);
  for (std::size_t phase = 0; phase < taken_[client].size(); ++phase) {
    if (taken_[client][phase] == fingerprint) return static_cast<ServerPhase>(phase);
  }
  const auto kind = kind_of(message);
  const auto meant = kind ? static_cast<ServerPhase>(*kind) : phase_;
  if (meant <= phase_ && meant < ServerPhase::done && taken(client, meant)) {
    return tl::unexpected(
        Error{ErrorKind::conflict, fmt::format("client {}: another message was taken for the phase '{}', and "
                                               "that one counts: send the same bytes again or nothing",
                                               client, name_of(meant))});
  }
  if (!takes_part(client)) {
    return bad_input("client {} takes no part in the phase '{}'", client, name_of(phase_));
  }
  if (Status accepted = accept(client, message); !accepted) {
    asked_.erase(client);
    return tl::unexpected(std::move(accepted).error().in(fmt::format("client {}", client)));
  }
  answered_.insert(client);
  taken_[client][static_cast<std::size_t>(phase_)] = fingerprint;
  return phase_;
}

Result<std::optional<Bytes>> SecAggServer::answer_to(std::uint32_t client, ServerPhase phase) const {
  if (client >= round_.group.clients || phase >= ServerPhase::done || !taken(client, phase)) {
    return bad_input("nothing was taken from client {} for the phase '{}'", client, name_of(phase));
  }
  if (phase_ == ServerPhase::failed) return failed("{}", failure_);
  if (phase_ == phase) return std::nullopt;
  switch (phase) {
    case ServerPhase::advertising:
      return compose(client, ServerPhase::sharing);
    case ServerPhase::sharing:
      return compose(client, ServerPhase::uploading);
    case ServerPhase::uploading:
      return compose(client, active_server() ? ServerPhase::confirming : ServerPhase::unmasking);
    case ServerPhase::confirming:
      return compose(client, ServerPhase::unmasking);
    default:
      return Bytes{};
  }
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
    abandon(fmt::format("the round failed while {}: {}", name_of(phase_), closed.error().message));
    return failed("{}", failure_);
  }
  return {};
}

void SecAggServer::abandon(std::string why) {
  failure_ = std::move(why);
  begin(ServerPhase::failed, MemberSet(round_.group.clients));
  if (auto nothing = RingVector::zeros(0, round_.vector.bits)) sum_ = *std::move(nothing);
  // Whoever makes groups fail again and again must not fill the server with their letters.
  mail_ = {};
  revealed_ = {};
  sharing_signatures_ = {};
  arrivals_signatures_ = {};
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
      for (auto& letters : mail_) {
        std::sort(letters.begin(), letters.end(),
                  [](const auto& a, const auto& b) { return a.client < b.client; });
      }
      begin(ServerPhase::uploading, sharing_);
      return {};
    case ServerPhase::uploading:
      SOTTO_CHECK(require(uploaded_.count(), group.minimum_alive, "vectors arrived"));
      begin(active_server() ? ServerPhase::confirming : ServerPhase::unmasking, answered_);
      return {};
    case ServerPhase::confirming:
      confirmed_ = answered_;
      SOTTO_CHECK(require(confirmed_.count(), group.quorum, "clients confirmed the arrivals"));
      begin(ServerPhase::unmasking, confirmed_);
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

}  // namespace sotto::secagg
