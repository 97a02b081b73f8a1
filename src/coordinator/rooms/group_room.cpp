#include "coordinator/rooms/group_room.h"

#include "base/chain_hash.h"
#include "rounds/group_invitation.h"

namespace sotto::coordinator {

namespace {

using Kind = RoomAnswer::Kind;

RoomAnswer with_reason(Kind kind, std::string why) { return {kind, {}, std::move(why), {}}; }

}  // namespace

Result<GroupRoom> GroupRoom::open(const rounds::CampaignTerms& terms, const rounds::Digest& order_hash,
                                  secagg::GroupIdentities members, RandomSource& random, PhasePace& pace,
                                  RoomTime now) {
  const secagg::VectorShape shape{terms.plan.entries(), terms.plan.modulus().bits()};
  SOTTO_TRY(auto server, secagg::SecAggServer::create(terms.group, shape, order_hash, members, random));
  return GroupRoom(std::move(server), std::move(members), pace, now);
}

bool GroupRoom::is_over() const { return server_.phase() >= secagg::ServerPhase::done; }

std::optional<RoomTime> GroupRoom::due() const {
  if (is_over()) return std::nullopt;
  return began_ + pace_->deadline(server_.phase());
}

// What close_phase() says is kept by the server and told to everybody who asks.
void GroupRoom::close(RoomTime now) {
  if (!is_over()) phases_[static_cast<std::size_t>(server_.phase())].took = now - began_;
  static_cast<void>(server_.close_phase());
  began_ = now;
}

void GroupRoom::tick(RoomTime now) {
  if (const auto time = due(); time && now >= *time) close(now);
}

RoomAnswer GroupRoom::invitation_for(std::uint32_t client, RoomTime now) {
  tick(now);
  if (server_.phase() == secagg::ServerPhase::failed) return with_reason(Kind::over, server_.failure());
  if (server_.phase() != secagg::ServerPhase::advertising)
    return with_reason(Kind::refused, "the group has begun without this device");
  auto invitation = server_.message_for(client);
  if (!invitation) return with_reason(Kind::refused, invitation.error().message);
  const std::string bytes = encode(rounds::GroupInvitation{*members_, std::string(as_text(*invitation))});
  return {Kind::message, {bytes.begin(), bytes.end()}, {}, {}};
}

RoomAnswer GroupRoom::answer_to(std::uint32_t client, secagg::ServerPhase phase) const {
  if (server_.phase() == secagg::ServerPhase::failed) return with_reason(Kind::over, server_.failure());
  auto answer = server_.answer_to(client, phase);
  if (!answer) return with_reason(Kind::over, answer.error().message);
  if (!*answer) return {Kind::wait, {}, {}, phase};
  if ((*answer)->empty()) return {Kind::done, {}, {}, {}};
  return {Kind::message, **std::move(answer), {}, {}};
}

RoomAnswer GroupRoom::post(std::uint32_t client, secagg::ByteView message, RoomTime now) {
  tick(now);
  if (server_.phase() == secagg::ServerPhase::failed) return with_reason(Kind::over, server_.failure());
  const bool is_first = !server_.has_answered(client);
  const auto taken = server_.receive(client, message);
  if (taken && is_first && *taken == server_.phase()) {
    pace_->answered(*taken, now - began_);
    ++phases_[static_cast<std::size_t>(*taken)].answered;
  }
  // A refusal may have removed the last one that was waited for.
  const bool was_open = !is_over();
  if (was_open && server_.all_answered()) close(now);
  if (taken) return answer_to(client, *taken);
  const bool conflicts = taken.error().kind == ErrorKind::conflict;
  return with_reason(conflicts ? Kind::conflict : Kind::refused, taken.error().message);
}

}  // namespace sotto::coordinator
