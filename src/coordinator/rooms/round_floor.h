#pragma once
// Where requests meet the round that is open. Requests come from network threads and are not kept waiting:
// each is put down, and one thread, the one that runs the round, works them off in the order they came.
// Between rounds everybody hears that there is none.
//
// check_in(), post() and counts() are safe from any thread; run() is called by one thread at a time. Answers
// are given on the thread that runs, or on the caller's where there is nothing to wait for.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "coordinator/rooms/round_desk.h"

namespace sotto::coordinator {

class RoundFloor {
 public:
  RoundFloor() = default;
  ~RoundFloor() { stop(); }
  RoundFloor(const RoundFloor&) = delete;
  RoundFloor& operator=(const RoundFloor&) = delete;

  void check_in(const rounds::IdentityKey& device, const rounds::Digest& order, GiveAnswer answer);
  void post(const rounds::IdentityKey& device, const rounds::Digest& room, std::string message,
            GiveAnswer answer);
  // Of the round that is open, or was last.
  DeskCounts counts() const;

  // Until the round has all its sums. An error when time is over before, or stop() was called; the sums that
  // were kept are then for nothing.
  Result<DeskCounts> run(DeskRound round, PhasePace& pace, RoundKeeper& keeper, RandomSource& random,
                         std::chrono::steady_clock::time_point until);
  // Ends the round that runs, if one does.
  void end_round(std::string why);
  // The same, and every further one.
  void stop();
  bool is_stopped() const { return stopped_; }

 private:
  using Job = std::function<void(RoundDesk& desk, RoomTime now)>;
  // False, and the job was not taken: no round is open.
  bool put(Job job);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool open_ = false;
  std::string ended_;  // the round, from outside, and why
  std::atomic<bool> stopped_ = false;
  DeskCounts counts_;
};

// Of the steady clock.
RoomTime room_time(std::chrono::steady_clock::time_point time);

}  // namespace sotto::coordinator
