#include "coordinator/rooms/round_desk.h"

#include <algorithm>

#include "base/chain_hash.h"
#include "base/log.h"
#include "rounds/round_messages.h"
#include "secagg/vectors/sum_energy.h"

namespace sotto::coordinator {

namespace {

using Kind = DeskAnswer::Kind;

Kind kind_of(RoomAnswer::Kind kind) {
  switch (kind) {
    case RoomAnswer::Kind::message:
      return Kind::message;
    case RoomAnswer::Kind::wait:
      return Kind::wait;
    case RoomAnswer::Kind::done:
      return Kind::done;
    case RoomAnswer::Kind::conflict:
      return Kind::conflict;
    case RoomAnswer::Kind::refused:
      return Kind::refused;
    case RoomAnswer::Kind::over:
      break;
  }
  return Kind::over;
}

DeskAnswer answer_of(RoomAnswer&& answer) {
  return {kind_of(answer.kind), std::string(as_text(answer.message)), std::move(answer.why)};
}

DeskAnswer wait_answer() { return {Kind::wait, {}, {}}; }

bool is_over(const secagg::SecAggServer& server) { return server.phase() >= secagg::ServerPhase::done; }

}  // namespace

struct RoundDesk::Meeting {
  Meeting(rounds::Digest name, std::uint32_t index, secagg::GroupIdentities who, GroupRoom opened)
      : id(name), number(index), members(std::move(who)), room(std::move(opened)) {}

  std::optional<std::uint32_t> index_of(const rounds::IdentityKey& device) const {
    const auto found = std::find(members->begin(), members->end(), device);
    if (found == members->end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - members->begin());
  }

  const rounds::Digest id;
  const std::uint32_t number;
  const secagg::GroupIdentities members;
  GroupRoom room;
  std::vector<HeldPost> held;
  bool ended = false;  // summed or failed, and counted
};

RoundDesk::RoundDesk(DeskRound round, PhasePace& pace, RoundKeeper& keeper, RandomSource& random)
    : round_(std::move(round)), pace_(pace), keeper_(keeper), random_(random) {}

RoundDesk::~RoundDesk() {
  const DeskAnswer over{Kind::over, {}, "the round is over"};
  for (auto& [device, held] : waiting_) held.answer(over);
  for (auto& [id, meeting] : meetings_)
    for (HeldPost& held : meeting->held) {
      RoomAnswer last = meeting->room.answer_to(held.client, held.phase);
      held.answer(last.kind == RoomAnswer::Kind::wait ? over : answer_of(std::move(last)));
    }
}

DeskCounts RoundDesk::counts() const {
  DeskCounts counts = counts_;
  counts.checked_in = waiting_.size();
  counts.came = came_.size();
  counts.devices_left_out = round_.left_out.size();
  for (const auto& [id, meeting] : meetings_)
    for (std::size_t i = 0; i < counts.phases.size(); ++i) {
      const PhaseTally& of_group = meeting->room.phases()[i];
      counts.phases[i].answered += of_group.answered;
      counts.phases[i].took = std::max(counts.phases[i].took, of_group.took);
    }
  return counts;
}

std::uint64_t RoundDesk::groups_wanted() const {
  const std::uint64_t busy = counts_.groups_summed + counts_.groups_open;
  return round_.groups > busy ? round_.groups - busy : 0;
}

void RoundDesk::check_in(const rounds::IdentityKey& device, const rounds::Digest& order, RoomTime now,
                         GiveAnswer answer) {
  if (order != round_.order)
    return answer({Kind::over, {}, "this order is over: fetch the one that is open"});
  // Whoever asks again after its group was formed has not heard of it.
  if (const auto place = places_.find(device); place != places_.end()) {
    Meeting& meeting = *meetings_.at(place->second);
    if (!meeting.ended) {
      RoomAnswer invitation = meeting.room.invitation_for(*meeting.index_of(device), now);
      settle(meeting);
      if (invitation.kind != RoomAnswer::Kind::message) return answer(answer_of(std::move(invitation)));
      return answer({Kind::message,
                     encode(rounds::GroupPlace{meeting.id, std::string(as_text(invitation.message))}),
                     {}});
    }
    if (meeting.room.server().phase() == secagg::ServerPhase::done)
      return answer({Kind::over, {}, "this device has taken part in the round"});
  }
  if (round_.left_out.contains(device))
    return answer({Kind::refused,
                   {},
                   "this device dealt shares that do not open what it promised: it is left out of this "
                   "campaign"});
  if (is_complete()) return answer({Kind::over, {}, "the round has all the devices it asked for"});
  came_.insert(device);
  if (const auto before = waiting_.find(device); before != waiting_.end()) {
    before->second.answer(wait_answer());
    before->second = {{std::move(answer), now + hold_time}, before->second.ticket};
  } else {
    waiting_.emplace(device, Waiting{{std::move(answer), now + hold_time}, ++tickets_});
    arrivals_.push_back({device, tickets_});
  }
  expiries_.push_back({device, now + hold_time});
  form_groups(now);
}

void RoundDesk::form_groups(RoomTime now) {
  while (groups_wanted() > 0 && has_group()) form_group(now);
}

bool RoundDesk::has_group() {
  const std::size_t size = round_.terms.plan.settings().devices;
  std::size_t live = 0;
  for (auto arrival = arrivals_.begin(); waiting_.size() >= size && live < size;) {
    const auto waits = waiting_.find(arrival->device);
    const bool is_its = waits != waiting_.end() && waits->second.ticket == arrival->ticket;
    if (is_its && waits->second.answer.is_live()) {
      ++live, ++arrival;
      continue;
    }
    if (is_its) {
      waits->second.answer(wait_answer());
      waiting_.erase(waits);
    }
    arrival = arrivals_.erase(arrival);
  }
  return live == size;
}

void RoundDesk::form_group(RoomTime now) {
  const std::size_t size = round_.terms.plan.settings().devices;
  auto members = std::make_shared<std::vector<secagg::IdentityKey>>();
  std::vector<GiveAnswer> answers;
  while (members->size() < size) {
    const Arrival next = arrivals_.front();
    arrivals_.pop_front();
    const auto waits = waiting_.find(next.device);
    if (waits == waiting_.end() || waits->second.ticket != next.ticket) continue;  // went away meanwhile
    members->push_back(next.device);
    answers.push_back(std::move(waits->second.answer));
    waiting_.erase(waits);
  }
  auto room = GroupRoom::open(round_.terms, round_.order, members, random_, pace_, now);
  if (!room) {
    counts_.last_failure = room.error().message;
    for (GiveAnswer& answer : answers) answer({Kind::over, {}, room.error().message});
    return;
  }
  rounds::Digest id{};
  std::array<std::uint64_t, 4> words{};
  random_.fill(words);
  for (std::size_t i = 0; i < id.size(); ++i)
    id[i] = static_cast<std::uint8_t>(words[i / 8] >> (8 * (i % 8)) & 0xff);
  auto meeting =
      std::make_unique<Meeting>(id, static_cast<std::uint32_t>(meetings_.size()), members, std::move(*room));
  ++counts_.groups_open;
  counts_.devices_grouped += size;
  Meeting& opened = *meetings_.emplace(id, std::move(meeting)).first->second;
  for (std::uint32_t i = 0; i < members->size(); ++i) {
    places_[(*members)[i]] = id;
    const RoomAnswer invitation = opened.room.invitation_for(i, now);
    answers[i]({Kind::message, encode(rounds::GroupPlace{id, std::string(as_text(invitation.message))}), {}});
  }
}

void RoundDesk::post(const rounds::IdentityKey& device, const rounds::Digest& room, std::string_view message,
                     RoomTime now, GiveAnswer answer) {
  const auto found = meetings_.find(room);
  if (found == meetings_.end()) return answer({Kind::over, {}, "there is no such group, or it is over"});
  Meeting& meeting = *found->second;
  const auto client = meeting.index_of(device);
  if (!client) return answer({Kind::refused, {}, "this device is in another group"});
  counts_.bytes_received += message.size();
  RoomAnswer said = meeting.room.post(*client, rounds::as_bytes(message), now);
  if (said.kind != RoomAnswer::Kind::wait) {
    const bool was_running = !meeting.ended;
    settle(meeting);
    const secagg::SecAggServer& server = meeting.room.server();
    // What cannot be kept is not answered with what it would reveal.
    if (was_running && server.phase() == secagg::ServerPhase::failed)
      return answer({Kind::over, {}, server.failure()});
    return answer(answer_of(std::move(said)));
  }
  for (HeldPost& held : meeting.held) {
    if (held.client != *client) continue;
    held.answer(wait_answer());
    held.answer = std::move(answer);
    held.until = now + hold_time;
    held.phase = said.phase;
    return settle(meeting);
  }
  meeting.held.push_back({{std::move(answer), now + hold_time}, *client, said.phase});
  settle(meeting);
}

void RoundDesk::settle(Meeting& meeting) {
  const secagg::SecAggServer& server = meeting.room.server();
  // Before devices are charged: a disk that is full costs nobody anything.
  if (!meeting.ended && server.phase() >= secagg::ServerPhase::uploading && !is_over(server) &&
      !unmasking_noted_) {
    const Status noted = keeper_.begin_unmasking();
    unmasking_noted_ = noted.has_value();
    if (!noted) meeting.room.abandon(noted.error().message);
  }
  if (!meeting.ended && server.phase() == secagg::ServerPhase::done) {
    const std::vector<std::uint64_t> entries = server.sum().entries();
    const GroupSum sum{meeting.number, server.summed().count(), {entries.begin(), entries.end()}};
    const double energy = secagg::energy_of(round_.terms.plan, sum.entries),
                 most = secagg::largest_energy(round_.terms.plan);
    if (energy > most) {
      ++counts_.groups_implausible;
      meeting.room.abandon(fmt::format(
          "the sum of a group has energy {:.3g} where clipped updates and noise have at most {:.3g}: "
          "somebody in it sent something else",
          energy, most));
    } else if (const Status kept = keeper_.keep_sum(sum); kept) {
      meeting.ended = true;
      --counts_.groups_open;
      ++counts_.groups_summed;
      counts_.devices_summed += sum.arrived;
    } else if (kept.error().kind == ErrorKind::failed) {
      counts_.last_failure =
          kept.error().message;  // tried again at the next tick, as long as the round lasts
    } else {
      meeting.room.abandon(kept.error().message);
    }
  }
  if (!meeting.ended && server.phase() == secagg::ServerPhase::failed) {
    meeting.ended = true;
    --counts_.groups_open;
    ++counts_.groups_failed;
    note_failure(meeting);
  }
  std::vector<HeldPost> still;
  for (HeldPost& held : meeting.held) {
    RoomAnswer said = meeting.room.answer_to(held.client, held.phase);
    if (said.kind == RoomAnswer::Kind::wait)
      still.push_back(std::move(held));
    else
      held.answer(answer_of(std::move(said)));
  }
  meeting.held = std::move(still);
}

// Places in a group mean nothing to people, and keys are nothing for logs nor for everybody who asks how
// things stand: the operator's list alone names who it was.
void RoundDesk::note_failure(const Meeting& meeting) {
  const secagg::SecAggServer& server = meeting.room.server();
  counts_.last_failure = server.failure();
  if (server.guilty().count() == 0) return;
  for (std::uint32_t place = 0; place < meeting.members->size(); ++place) {
    if (!server.guilty().contains(place)) continue;
    round_.left_out.insert((*meeting.members)[place]);
    unkept_.insert((*meeting.members)[place]);
  }
  counts_.last_failure = fmt::format(
      "{} of a group dealt shares that do not open what they promised, and are left out from now on",
      server.guilty().count());
  warn("{}: GET /v1/admin/left-out names them to the operator", counts_.last_failure);
  keep_left_out();
}

void RoundDesk::keep_left_out() {
  std::erase_if(unkept_, [&](const rounds::IdentityKey& device) {
    const Status kept = keeper_.leave_out(device);
    if (!kept) counts_.last_failure = kept.error().message;
    return kept || kept.error().kind != ErrorKind::failed;
  });
}

void RoundDesk::tick(RoomTime now) {
  keep_left_out();
  for (auto& [id, meeting] : meetings_) {
    if (!meeting->ended) meeting->room.tick(now);
    settle(*meeting);
    std::erase_if(meeting->held, [&](HeldPost& held) {
      if (now < held.until) return false;
      held.answer(wait_answer());
      return true;
    });
  }
  let_go_of_expired(now);
  if (is_complete()) {
    for (auto& [device, held] : waiting_)
      held.answer({Kind::over, {}, "the round has all the devices it asked for"});
    waiting_.clear();
    arrivals_.clear();
    expiries_.clear();
  }
  form_groups(now);
}

void RoundDesk::let_go_of_expired(RoomTime now) {
  for (; !expiries_.empty(); expiries_.pop_front()) {
    const Expiry& next = expiries_.front();
    const auto waits = waiting_.find(next.device);
    if (waits == waiting_.end() || waits->second.until != next.until) continue;  // grouped, or asked again
    if (now < next.until) break;
    waits->second.answer(wait_answer());
    waiting_.erase(waits);
  }
  if (arrivals_.size() <= 2 * waiting_.size() + 64) return;
  std::erase_if(arrivals_, [&](const Arrival& arrival) {
    const auto waits = waiting_.find(arrival.device);
    return waits == waiting_.end() || waits->second.ticket != arrival.ticket;
  });
}

std::optional<RoomTime> RoundDesk::due() const {
  std::optional<RoomTime> first;
  const auto sooner = [&](RoomTime time) {
    if (!first || time < *first) first = time;
  };
  for (const auto& [id, meeting] : meetings_) {
    if (const auto time = meeting->room.due(); time && !meeting->ended) sooner(*time);
    for (const HeldPost& held : meeting->held) sooner(held.until);
  }
  if (!expiries_.empty()) sooner(expiries_.front().until);
  return first;
}

}  // namespace sotto::coordinator
