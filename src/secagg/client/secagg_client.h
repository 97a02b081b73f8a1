#pragma once
// One device in one round of secure aggregation.

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "privacy/noise/device_random.h"
#include "secagg/shared/bytes.h"
#include "secagg/shared/key_exchange.h"
#include "secagg/shared/member_set.h"
#include "secagg/shared/messages.h"
#include "secagg/shared/ring_vector.h"
#include "secagg/shared/round.h"
#include "secagg/shared/sealed_shares.h"

namespace sotto::secagg {

// Everything a client must forget when a round ends, in one place.

// What a client keeps about one neighbour.
struct NeighbourSecrets {
  Key opening_key;                  // for the shares this neighbour seals for us
  std::optional<SharePair> shares;  // what it gave us, if that is what it committed to
};

// The secrets of one client in one round. Lives in memory from the given resource and nowhere else, all of it
// wiped before it is given back: a test's resource can look.
class RoundSecrets {
 public:
  struct Deleter {
    std::pmr::memory_resource* memory;
    void operator()(RoundSecrets* secrets) const;
  };
  using Pointer = std::unique_ptr<RoundSecrets, Deleter>;

  // Fresh seeds and the key pairs that follow from them.
  static Result<Pointer> create(const Digest& context, privacy::DeviceRandom random,
                                std::pmr::memory_resource* memory);

  RoundSecrets(const RoundSecrets&) = delete;
  RoundSecrets& operator=(const RoundSecrets&) = delete;
  ~RoundSecrets() = default;

  Seed mask_seed;  // shared out: opens the mask key pair when this client drops out
  Seed self_seed;  // shared out: opens its own mask when its vector arrived
  KeyPair channel;
  KeyPair mask;
  std::pmr::vector<NeighbourSecrets> neighbours;

 private:
  RoundSecrets(Seed mask_seed, KeyPair channel, KeyPair mask, privacy::DeviceRandom random,
               std::pmr::memory_resource* memory);
};

// What a device demands of a round before it takes part: the server proposes, the device decides. Nothing
// about the adversary has a default.
struct ClientPolicy {
  Stated<ServerModel> server;           // protection against at least this kind
  Stated<double> corrupted;             // at least this fraction of a group must be allowed to be corrupted
  Stated<double> dropped;               // at most this fraction may be lost: noise counts on the others
  Stated<std::uint32_t> minimum_alive;  // vectors in a sum that ours is in
  Stated<Digest> order_hash;            // of the order this device has read and agreed to
  VectorShape vector;                   // what we came to sum: no round has the empty one
  double security_bits = 40;
};

enum class ClientStage : std::uint8_t {
  invited,
  advertised,
  shared,
  uploaded,
  confirmed,  // active server only
  done,
  aborted,
};
std::string_view name_of(ClientStage stage);

// Bytes in, bytes out: each step takes what the server sent and returns what to send back.
//
// Every step is taken once and in order. A step out of order, twice, or with a message that is not right in
// every detail ends the round for this client: the error says why, the stage is `aborted`, and all secrets of
// the round are wiped. They are wiped as well after the last step, by abort() and by the destructor. For each
// neighbour at most one of its two shares is ever revealed.
//
// `identity` and what `memory` points to must outlive the client; the group's identity keys are shared.
// Not thread-safe. Movable, so that many can be kept in a vector.
class SecAggClient {
 public:
  // Reads the invitation and checks it against the policy and the registered identities of the group, of
  // which ours must be one. Secrets are kept in memory from `memory`.
  static Result<SecAggClient> join(ByteView invitation, const ClientPolicy& policy, const Identity& identity,
                                   GroupIdentities group, privacy::DeviceRandom random,
                                   std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  Result<Bytes> advertise();
  Result<Bytes> share_keys(ByteView roster);
  // `input`: of the shape of the policy. Given up here; masked in place.
  Result<Bytes> upload(ByteView delivered_shares, RingVector input);
  Result<Bytes> confirm_arrivals(ByteView arrivals);  // active server only
  Result<Bytes> reveal(ByteView unmask_request);
  void abort();

  ClientStage stage() const { return stage_; }
  std::uint32_t index() const { return index_; }
  const Round& round() const { return round_; }

 private:
  SecAggClient(const Round& round, const Digest& context, std::uint32_t index, const Identity& identity,
               GroupIdentities group, privacy::DeviceRandom random);

  template <class Step>
  Result<Bytes> take(ClientStage from, ClientStage to, Step step);
  Result<Bytes> do_advertise();
  Result<Bytes> do_share_keys(const Roster& roster);
  Result<Bytes> do_upload(const DeliveredShares& delivered, RingVector input);
  Result<Bytes> do_confirm(const Arrivals& arrivals);
  Result<Bytes> do_reveal(const UnmaskRequest& request);

  // What a neighbour dealt us, if that is what it committed to.
  std::optional<SharePair> shares_from(std::uint32_t dealer, const AddressedShares& delivered,
                                       const Key& opening_key) const;

  bool active_server() const { return round_.group.server == ServerModel::active; }
  Status check_roster(const Roster& roster) const;
  Status check_delivered(const DeliveredShares& delivered) const;
  Status check_alive(const MemberSet& alive) const;
  Status check_signatures(const std::vector<ClientSignature>& signatures, const Digest& statement) const;

  Round round_;
  Digest context_{};
  std::uint32_t index_ = 0;
  const Identity* identity_;
  GroupIdentities group_;
  privacy::DeviceRandom random_;
  ClientStage stage_ = ClientStage::invited;
  RoundSecrets::Pointer secrets_{nullptr, {nullptr}};

  // Filled as the round goes on. peers_ are the neighbours that advertised, ascending, in the same order as
  // secrets_->neighbours.
  std::vector<std::uint32_t> neighbours_;
  std::vector<ClientKeys> peers_;
  Digest transcript_{};
  MemberSet sharing_;
  MemberSet confirmed_;
};

}  // namespace sotto::secagg
