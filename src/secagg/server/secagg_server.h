#pragma once
// The server's side of one round for one group.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "secagg/shared/bytes.h"
#include "secagg/shared/member_set.h"
#include "secagg/shared/messages.h"
#include "secagg/shared/neighbour_graph.h"
#include "secagg/shared/ring_vector.h"
#include "secagg/shared/round.h"

namespace sotto {

enum class ServerPhase : std::uint8_t {
  advertising,  // keys come in
  sharing,      // sealed shares
  uploading,    // masked vectors
  confirming,   // signatures over the arrivals: active server only
  unmasking,    // revealed shares
  done,
  failed,
};
std::string_view name_of(ServerPhase phase);

// Bytes in, bytes out: receive() takes what a client sent, message_for() says what to send it, and
// close_phase() ends a phase, when all have answered or the caller's clock says so.
//
// A message that is not right in every detail removes its sender and nobody else: before its vector arrived
// the sender counts as lost; afterwards the vector stays in the sum and the sender is not asked again. When a
// phase ends with too few, the round fails, and nothing about anybody's vector can be learnt from what was
// collected.
//
// Vectors are added up on arrival: memory holds one vector, the sealed shares and the keys, however many
// clients there are. Not thread-safe; unmasking uses the thread pool inside close_phase().
class SecAggServer {
 public:
  // `order_hash` is that of the document which says what is being asked: devices that expect another do not
  // join. `random` gives the round's public name and graph, nothing secret, but the name must never come
  // twice.
  static Result<SecAggServer> create(const GroupParameters& group, const VectorShape& vector,
                                     const Digest& order_hash, GroupIdentities identities,
                                     RandomSource& random);

  ServerPhase phase() const { return phase_; }
  const Round& round() const { return round_; }

  // Who this phase hears from, and who has not answered yet.
  bool takes_part(std::uint32_t client) const { return asked_.contains(client); }
  bool has_answered(std::uint32_t client) const { return answered_.contains(client); }
  bool all_answered() const { return asked_.subset_of(answered_); }

  // What to send to a client that takes part in this phase. In the first one it is the same for all.
  Result<Bytes> message_for(std::uint32_t client) const;
  // The error says what was wrong with the message, whose sender is out.
  Status receive(std::uint32_t client, ByteView message);
  // On to the next phase. An error means that the round has failed.
  Status close_phase();

  // In phase `done`: the sum modulo 2^bits and whose vectors are in it.
  const RingVector& sum() const { return sum_; }
  const MemberSet& summed() const { return uploaded_; }
  // In phase `failed`: why.
  const std::string& failure() const { return failure_; }

 private:
  SecAggServer(const Round& round, GroupIdentities identities, RingVector sum);

  bool active_server() const { return round_.group.server == ServerModel::active; }
  Status accept(std::uint32_t client, ByteView message);
  Status accept_advertisement(std::uint32_t client, ByteView message);
  Status accept_shares(std::uint32_t client, ByteView message);
  Status accept_vector(std::uint32_t client, ByteView message);
  Status accept_confirmation(std::uint32_t client, ByteView message);
  Status accept_revealed(std::uint32_t client, ByteView message);
  void begin(ServerPhase phase, const MemberSet& asked);
  Status advance();
  Status unmask();
  Result<std::vector<Mask>> masks_in_sum() const;

  Round round_;
  GroupIdentities identities_;
  Digest identities_hash_{};
  Digest context_{};
  Digest transcript_{};
  NeighbourGraph graph_;
  ServerPhase phase_ = ServerPhase::advertising;
  MemberSet asked_, answered_;                 // in this phase
  MemberSet advertised_, sharing_, uploaded_;  // as these phases ended
  std::string failure_;

  // By client.
  std::vector<ClientKeys> keys_;
  std::set<PublicKey> known_keys_;                  // of both kinds, of everybody
  std::vector<Digest> commitments_;                 // to the self-mask seeds
  std::vector<std::vector<AddressedShares>> mail_;  // for a client, by sender
  std::vector<Signature> sharing_signatures_;       // active server only
  std::vector<Signature> arrivals_signatures_;      // active server only
  MemberSet confirmed_;                             // who gave the latter
  std::vector<std::vector<SharePoint>> revealed_;   // shares of a client's seed: the one that is needed
  RingVector sum_;
};

}  // namespace sotto
