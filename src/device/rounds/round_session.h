#pragma once
// A device's side of one round that it has accepted and trained for, without I/O: what to send, when to wait,
// when it is over. Driven by whatever carries bytes.
//
// The same call is given until its answer has come, so whatever is lost may be sent again; answers to earlier
// calls change nothing. The ledger is charged once, immediately before the vector is made: a round that ends
// before costs nothing, and one that ends after is paid for. Update and secrets are wiped when the session is
// over. Not thread-safe.

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "device/rounds/round_checks.h"
#include "privacy/ledger/ledger.h"

namespace sotto::device {

enum class SessionStage : std::uint8_t { check_in, advertise, share, upload, confirm, reveal, over };
std::string_view name(SessionStage stage);

struct SessionCall {
  SessionStage stage = SessionStage::check_in;
  secagg::Bytes body;  // none at check-in
};
struct SessionWait {};  // ask again later
struct SessionDone {
  std::string why;  // of an end before the last step; empty: the server has all it asked for
};
using SessionStep = std::variant<SessionCall, SessionWait, SessionDone>;

// What a session uses of its device; all of it must outlive the session.
struct SessionDevice {
  const secagg::Identity& identity;
  privacy::Ledger& ledger;
  std::function<privacy::ClockReading()> clock;
  // Are these the keys of enrolled devices? Asked of a registry that the coordinator cannot write to.
  std::function<Status(const std::vector<secagg::IdentityKey>&)> check_registered;
  privacy::DeviceRandom keys;   // of the secure sum
  privacy::DeviceRandom noise;  // and rounding of the update
};

class RoundSession {
 public:
  // `update`: of the plan's dimension, as trained.
  RoundSession(AcceptedRound accepted, std::vector<float> update, SessionDevice device);
  RoundSession(const RoundSession&) = delete;
  RoundSession& operator=(const RoundSession&) = delete;
  RoundSession(RoundSession&&) = default;
  RoundSession& operator=(RoundSession&&) = delete;
  ~RoundSession();

  SessionStep next();
  // The answer to a call of this stage; none: the server said to wait. An error ends the session, and next()
  // says why.
  Status received(SessionStage stage, std::optional<secagg::ByteView> answer);
  // The server refused a call, or the caller gives up.
  void end(std::string why);

  bool is_over() const { return call_.stage == SessionStage::over; }
  bool was_charged() const { return was_charged_; }

 private:
  Status go_on(secagg::ByteView answer);
  Status join(secagg::ByteView answer);
  Result<secagg::Bytes> upload(secagg::ByteView shares);
  bool is_active() const { return accepted_.campaign.campaign.server == secagg::ServerModel::active; }
  void wipe();

  AcceptedRound accepted_;
  std::vector<float> update_;
  SessionDevice device_;
  std::optional<secagg::SecAggClient> client_;
  SessionCall call_;
  bool waits_ = false, was_charged_ = false;
  std::string why_;
};

}  // namespace sotto::device
