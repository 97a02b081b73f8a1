#pragma once
// One round as the coordinator runs it: devices check in and wait, groups of exactly the plan's size form
// from those who wait at this moment, meet in rooms, and their sums are collected until the cohort is
// complete. Whoever has closed its connection does not wait: grouped, it would count as lost. No I/O; the
// caller's clock is handed in.
//
// Every question has one answer: at once, or, while others are waited for, as soon as it is known, and `wait`
// after hold_time at the latest; the same question may then be asked again. Two questions of one device about
// the same thing: the earlier one is told to wait, so that a lost connection blocks nobody. What must be
// durable before anybody hears of it goes through `keeper`: that vectors are asked for, before any device is
// charged for one, and each sum. A refusal ends the group; a sum for which there is no room now is kept as
// soon as there is.
//
// One liar must not spoil group after group, at the honest members' expense: whoever is proven to have dealt
// shares that do not open what it promised is left out of all further groups of the campaign.
//
// Memory alone, but for that: with the process a round is lost. Not thread-safe.

#include <concepts>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "coordinator/rooms/group_room.h"
#include "coordinator/store/records.h"

namespace sotto::coordinator {

struct DeskAnswer {
  enum class Kind : std::uint8_t { message, wait, done, conflict, refused, over };
  Kind kind = Kind::wait;
  std::string body;
  std::string why;
};
// How somebody who waits is answered, and, where the network can tell, whether anybody is still there.
class GiveAnswer {
 public:
  template <class Give>
  requires std::invocable<Give&, DeskAnswer> &&
      (!std::same_as<Give, GiveAnswer>)GiveAnswer(Give give, std::function<bool()> is_live = {})
      : give_(std::move(give)), is_live_(std::move(is_live)) {}
  void operator()(DeskAnswer answer) const { give_(std::move(answer)); }
  bool is_live() const { return !is_live_ || is_live_(); }

 private:
  std::function<void(DeskAnswer)> give_;
  std::function<bool()> is_live_;
};

// Whoever makes what happens durable.
class RoundKeeper {
 public:
  virtual ~RoundKeeper() = default;
  virtual Status begin_unmasking() = 0;  // before the first vector is asked for
  virtual Status keep_sum(const GroupSum& sum) = 0;
  // No group of the campaign takes the device any more, in no later round either.
  virtual Status leave_out(const rounds::IdentityKey& device) = 0;
  virtual Result<std::set<rounds::IdentityKey>> left_out() = 0;
};

struct DeskRound {
  rounds::Digest order{};  // hash of the document
  rounds::CampaignTerms terms;
  std::uint64_t groups = 0;  // to be summed
  std::set<rounds::IdentityKey> left_out = {};
};

// What went on, for people: nothing of it names a device.
struct DeskCounts {
  std::uint64_t checked_in = 0;  // now waiting
  std::uint64_t came = 0;        // different devices that checked in since the order was shown
  std::uint64_t groups_open = 0, groups_summed = 0, groups_failed = 0;
  std::uint64_t groups_implausible = 0;  // of those that failed: summed to what honest devices cannot give
  std::uint64_t devices_grouped = 0;     // of all groups
  std::uint64_t devices_summed = 0;
  std::uint64_t devices_left_out = 0;  // of the campaign, since it began
  std::uint64_t bytes_received = 0;    // in posts of members
  PhaseTallies phases{};               // answers of all groups; the time of the slowest
  std::string last_failure;            // of a group
};

class RoundDesk {
 public:
  static constexpr RoomTime hold_time = std::chrono::seconds(20);

  // `pace` and `keeper` must outlive this, and `random` too.
  RoundDesk(DeskRound round, PhasePace& pace, RoundKeeper& keeper, RandomSource& random);
  ~RoundDesk();  // whoever still waits hears that the round is over
  RoundDesk(const RoundDesk&) = delete;
  RoundDesk& operator=(const RoundDesk&) = delete;

  void check_in(const rounds::IdentityKey& device, const rounds::Digest& order, RoomTime now,
                GiveAnswer answer);
  void post(const rounds::IdentityKey& device, const rounds::Digest& room, std::string_view message,
            RoomTime now, GiveAnswer answer);
  void tick(RoomTime now);
  // When tick() has something to do.
  std::optional<RoomTime> due() const;

  bool is_complete() const { return counts_.groups_summed >= round_.groups; }
  // May devices have been charged for what is not over?
  bool is_at_stake() const { return counts_.groups_open > 0 || counts_.groups_summed > 0; }
  DeskCounts counts() const;

 private:
  struct Held {
    GiveAnswer answer;
    RoomTime until;
  };
  struct Waiting : Held {
    std::uint64_t ticket = 0;  // its place in the queue
  };
  struct HeldPost : Held {
    std::uint32_t client = 0;
    secagg::ServerPhase phase{};
  };
  struct Meeting;  // a room, who is in it and who waits there

  void form_groups(RoomTime now);
  bool has_group();  // of devices that are there; those that went away are let go of
  void form_group(RoomTime now);
  // Thousands wait, and the desk is asked thousands of times a second: what is done every time must not go
  // through all of them.
  void let_go_of_expired(RoomTime now);
  // After anything happened in a room: what must be kept is kept, and who can be answered is.
  void settle(Meeting& meeting);
  // Of a group that failed: why, and who is left out for it.
  void note_failure(const Meeting& meeting);
  void keep_left_out();
  std::uint64_t groups_wanted() const;

  DeskRound round_;
  PhasePace& pace_;
  RoundKeeper& keeper_;
  RandomSource& random_;
  struct Arrival {
    rounds::IdentityKey device{};
    std::uint64_t ticket = 0;
  };
  struct Expiry {
    rounds::IdentityKey device{};
    RoomTime until{0};
  };
  std::deque<Arrival> arrivals_;  // by the time they came, and some who do not wait by that ticket any more
  std::deque<Expiry> expiries_;   // by their time, and some who have asked again since
  std::uint64_t tickets_ = 0;
  std::map<rounds::IdentityKey, Waiting> waiting_;
  std::map<rounds::Digest, std::unique_ptr<Meeting>> meetings_;
  std::map<rounds::IdentityKey, rounds::Digest> places_;  // the last room of a device
  std::set<rounds::IdentityKey> came_;
  std::set<rounds::IdentityKey> unkept_;  // of those left out: there was no room to write it down yet
  DeskCounts counts_;
  bool unmasking_noted_ = false;
};

}  // namespace sotto::coordinator
