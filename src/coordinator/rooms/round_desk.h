#pragma once
// One round as the coordinator runs it: devices check in and wait, groups of exactly the plan's size form
// from those who wait at this moment, meet in rooms, and their sums are collected until the cohort is
// complete. No I/O; the caller's clock is handed in.
//
// Every question has one answer: at once, or, while others are waited for, as soon as it is known, and `wait`
// after hold_time at the latest; the same question may then be asked again. Two questions of one device about
// the same thing: the earlier one is told to wait, so that a lost connection blocks nobody. What must be
// durable before anybody hears of it goes through `keeper`: that vectors are asked for, before any device is
// charged for one, and each sum. A refusal ends the group; a sum for which there is no room now is kept as
// soon as there is.
//
// Memory alone: with the process a round is lost. Not thread-safe.

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
using GiveAnswer = std::function<void(DeskAnswer)>;

// Whoever makes what happens durable.
class RoundKeeper {
 public:
  virtual ~RoundKeeper() = default;
  virtual Status begin_unmasking() = 0;  // before the first vector is asked for
  virtual Status keep_sum(const GroupSum& sum) = 0;
};

struct DeskRound {
  rounds::Digest order{};  // hash of the document
  rounds::CampaignTerms terms;
  std::uint64_t groups = 0;  // to be summed
};

// What went on, for people: nothing of it names a device.
struct DeskCounts {
  std::uint64_t checked_in = 0;  // now waiting
  std::uint64_t came = 0;        // different devices that checked in since the order was shown
  std::uint64_t groups_open = 0, groups_summed = 0, groups_failed = 0;
  std::uint64_t groups_implausible = 0;  // of those that failed: summed to what honest devices cannot give
  std::uint64_t devices_grouped = 0;     // of all groups
  std::uint64_t devices_summed = 0;
  std::uint64_t bytes_received = 0;  // in posts of members
  PhaseTallies phases{};             // answers of all groups; the time of the slowest
  std::string last_failure;          // of a group
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
  DeskCounts counts() const;

 private:
  struct Held {
    GiveAnswer answer;
    RoomTime until;
  };
  struct HeldPost : Held {
    std::uint32_t client = 0;
    secagg::ServerPhase phase{};
  };
  struct Meeting;  // a room, who is in it and who waits there

  void form_groups(RoomTime now);
  void form_group(RoomTime now);
  // After anything happened in a room: what must be kept is kept, and who can be answered is.
  void settle(Meeting& meeting);
  std::uint64_t groups_wanted() const;

  DeskRound round_;
  PhasePace& pace_;
  RoundKeeper& keeper_;
  RandomSource& random_;
  std::deque<rounds::IdentityKey> arrivals_;     // by the time they came
  std::map<rounds::IdentityKey, Held> waiting_;  // those of them who wait now
  std::map<rounds::Digest, std::unique_ptr<Meeting>> meetings_;
  std::map<rounds::IdentityKey, rounds::Digest> places_;  // the last room of a device
  std::set<rounds::IdentityKey> came_;
  DeskCounts counts_;
  bool unmasking_noted_ = false;
};

}  // namespace sotto::coordinator
