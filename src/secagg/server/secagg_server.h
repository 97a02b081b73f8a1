#pragma once
// The server's side of one round for one group.

#include <array>
#include <cstdint>
#include <optional>
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

namespace sotto::secagg {

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
// the sender counts as lost; afterwards the vector stays in the sum and the sender is not asked again. What
// was taken once may come again, as networks do: the same bytes change nothing and have the same answer,
// other bytes are refused, and neither removes anybody. When a phase ends with too few, the round fails, and
// nothing about anybody's vector can be learnt from what was collected.
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
  // Which phase the message was taken for, now or before. An error of kind `conflict` says that another
  // message was taken for its phase; any other what was wrong with the message, whose sender is out.
  Result<ServerPhase> receive(std::uint32_t client, ByteView message);
  // What answers the message that was taken from a client for a phase: the message of the next phase, the
  // same bytes whenever it is asked for; nothing yet while the phase is open; no bytes after the last phase.
  Result<std::optional<Bytes>> answer_to(std::uint32_t client, ServerPhase phase) const;
  // On to the next phase. An error means that the round has failed.
  Status close_phase();
  // The round has failed, for the caller's reason. Of a failed round nothing is held but the reason.
  void abandon(std::string why);

  // In phase `done`: the sum modulo 2^bits and whose vectors are in it.
  const RingVector& sum() const { return sum_; }
  const MemberSet& summed() const { return uploaded_; }
  // In phase `failed`: why, and which dealers are proven to have caused it.
  const std::string& failure() const { return failure_; }
  const MemberSet& guilty() const { return guilty_; }

 private:
  SecAggServer(const Round& round, GroupIdentities identities, RingVector sum);

  bool active_server() const { return round_.group.server == ServerModel::active; }
  // Enough to know a message again. Not against forgers: a client that finds other bytes with its own
  // message's fingerprint is told that its message was taken, which is true.
  using Fingerprint = std::array<std::uint64_t, 2>;
  static Fingerprint fingerprint_of(ByteView message);
  const std::optional<Fingerprint>& taken(std::uint32_t client, ServerPhase phase) const {
    return taken_[client][static_cast<std::size_t>(phase)];
  }

  Result<Bytes> compose(std::uint32_t client, ServerPhase phase) const;
  Status accept(std::uint32_t client, ByteView message);
  Status accept_advertisement(std::uint32_t client, ByteView message);
  Status accept_shares(std::uint32_t client, ByteView message);
  Status accept_vector(std::uint32_t client, ByteView message);
  Status accept_confirmation(std::uint32_t client, ByteView message);
  Status accept_revealed(std::uint32_t client, ByteView message);
  void begin(ServerPhase phase, const MemberSet& asked);
  Status advance();
  Status unmask();
  Result<std::vector<Seed>> open_seeds(const std::vector<std::uint32_t>& owners);
  Result<std::vector<Mask>> masks_in_sum();
  bool keeps_promise(std::uint32_t owner, const Seed& seed) const;
  bool dealt_misfits(std::uint32_t dealer) const;
  const AddressedShares* dealt_by(std::uint32_t dealer, std::uint32_t receiver) const;

  Round round_;
  GroupIdentities identities_;
  Digest identities_hash_{};
  Digest context_{};
  Digest transcript_{};
  NeighbourGraph graph_;
  ServerPhase phase_ = ServerPhase::advertising;
  MemberSet asked_, answered_;                             // in this phase
  MemberSet advertised_, sharing_, uploaded_, confirmed_;  // as these phases ended
  std::string failure_;
  MemberSet guilty_;

  // By client.
  std::vector<ClientKeys> keys_;
  std::set<PublicKey> known_keys_;                                // of both kinds, of everybody
  std::vector<std::array<std::optional<Fingerprint>, 5>> taken_;  // by phase
  std::vector<Digest> self_seed_commitments_;
  std::vector<std::vector<AddressedShares>> mail_;  // for a client; once all have shared, by sender
  std::vector<Signature> sharing_signatures_;       // active server only
  std::vector<Signature> arrivals_signatures_;      // active server only
  std::vector<std::vector<SharePoint>> revealed_;   // of the seed that is needed, as committed to
  RingVector sum_;
};

}  // namespace sotto::secagg
