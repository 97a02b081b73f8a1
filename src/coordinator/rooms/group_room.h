#pragma once
// One group of one round as the coordinator keeps it: the server of secure aggregation, its deadlines, and
// answers that are the same however often they are asked for. No I/O; the caller's clock is handed in.
//
// The answer to each message is the message of the next phase. While a phase is open the answer is to wait:
// the same bytes sent again have it as soon as the phase has ended. Whoever sends other bytes than before has
// a conflict, and is not expelled for it. Held in memory alone: with the process a round is lost, never a
// version. Not thread-safe. `pace` must outlive the room.

#include <string>

#include "base/random.h"
#include "coordinator/rooms/phase_pace.h"
#include "rounds/order.h"
#include "secagg/server/secagg_server.h"

namespace sotto::coordinator {

struct RoomAnswer {
  enum class Kind : std::uint8_t {
    message,   // what to do next
    wait,      // not all have answered: send the same again later
    done,      // nothing more is asked
    conflict,  // other bytes were taken before, and count
    refused,   // the message is wrong, or its sender is out
    over,      // the round has failed
  };
  Kind kind = Kind::wait;
  secagg::Bytes message;
  std::string why;  // of a conflict, a refusal, a failure
  // Of `wait`: what is waited for (answer_to).
  secagg::ServerPhase phase = secagg::ServerPhase::advertising;
};

// How a phase of a group went, for people.
struct PhaseTally {
  std::uint64_t answered = 0;  // devices
  RoomTime took{0};            // from its beginning to its end
};
// By ServerPhase, advertising to unmasking.
using PhaseTallies = std::array<PhaseTally, 5>;

class GroupRoom {
 public:
  // `members`: exactly as many as the campaign's groups have.
  static Result<GroupRoom> open(const rounds::CampaignTerms& terms, const rounds::Digest& order_hash,
                                secagg::GroupIdentities members, RandomSource& random, PhasePace& pace,
                                RoomTime now);

  // What a member hears when the group is complete, as often as it asks.
  RoomAnswer invitation_for(std::uint32_t client, RoomTime now);
  RoomAnswer post(std::uint32_t client, secagg::ByteView message, RoomTime now);
  // To what was posted in this phase, without posting it again.
  RoomAnswer answer_to(std::uint32_t client, secagg::ServerPhase phase) const;
  // Ends phases whose time is over.
  void tick(RoomTime now);
  // The group has failed, for a reason from outside.
  void abandon(std::string why) { server_.abandon(std::move(why)); }
  // When tick() has something to do; nothing once the round is over.
  std::optional<RoomTime> due() const;

  bool is_over() const;
  const secagg::SecAggServer& server() const { return server_; }
  const PhaseTallies& phases() const { return phases_; }

 private:
  GroupRoom(secagg::SecAggServer server, secagg::GroupIdentities members, PhasePace& pace, RoomTime now)
      : server_(std::move(server)), members_(std::move(members)), pace_(&pace), began_(now) {}
  void close(RoomTime now);

  secagg::SecAggServer server_;
  secagg::GroupIdentities members_;
  PhasePace* pace_;
  RoomTime began_;  // the phase
  PhaseTallies phases_{};
};

}  // namespace sotto::coordinator
