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

  // Why a round must end before its time; empty: it need not.
  using WhyOver = std::function<std::string()>;
  // Until the round has all its sums. An error when time is over before, why_over says something, nothing
  // would be lost while devices are let go, or stop() was called; the sums that were kept are then for
  // nothing.
  Result<DeskCounts> run(DeskRound round, PhasePace& pace, RoundKeeper& keeper, RandomSource& random,
                         std::chrono::steady_clock::time_point until, const WhyOver& why_over);
  // why_over is asked at once.
  void look() { changed_.notify_all(); }
  // A round for which devices may have been charged goes on to its end, with all that it still needs; any
  // other, and every further one, ends at once.
  void drain();
  bool is_draining() const { return draining_; }
  // Ends the round that runs, and every further one.
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
  std::atomic<bool> draining_ = false, stopped_ = false;
  DeskCounts counts_;
};

// Of the steady clock.
RoomTime room_time(std::chrono::steady_clock::time_point time);

}  // namespace sotto::coordinator
