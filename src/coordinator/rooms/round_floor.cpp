#include "coordinator/rooms/round_floor.h"

namespace sotto::coordinator {

using std::chrono::steady_clock;

namespace {

DeskAnswer no_round() { return {DeskAnswer::Kind::over, {}, "no round is open"}; }

}  // namespace

RoomTime room_time(steady_clock::time_point time) {
  return std::chrono::duration_cast<RoomTime>(time.time_since_epoch());
}

bool RoundFloor::put(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (!open_) return false;
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
  return true;
}

void RoundFloor::check_in(const rounds::IdentityKey& device, const rounds::Digest& order, GiveAnswer answer) {
  auto shared = std::make_shared<GiveAnswer>(std::move(answer));
  if (!put([device, order, shared](RoundDesk& desk, RoomTime now) {
        desk.check_in(device, order, now, std::move(*shared));
      }))
    (*shared)(no_round());
}

void RoundFloor::post(const rounds::IdentityKey& device, const rounds::Digest& room, std::string message,
                      GiveAnswer answer) {
  auto shared = std::make_shared<std::pair<std::string, GiveAnswer>>(std::move(message), std::move(answer));
  if (!put([device, room, shared](RoundDesk& desk, RoomTime now) {
        desk.post(device, room, shared->first, now, std::move(shared->second));
      }))
    shared->second(no_round());
}

DeskCounts RoundFloor::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void RoundFloor::stop() {
  stopped_ = true;
  changed_.notify_all();
}

void RoundFloor::drain() {
  draining_ = true;
  changed_.notify_all();
}

Result<DeskCounts> RoundFloor::run(DeskRound round, PhasePace& pace, RoundKeeper& keeper,
                                   RandomSource& random, steady_clock::time_point until,
                                   const WhyOver& why_over) {
  SOTTO_TRY(round.left_out, keeper.left_out());
  RoundDesk desk(std::move(round), pace, keeper, random);
  std::deque<Job> jobs;
  {
    const std::lock_guard lock(mutex_);
    open_ = true;
  }
  std::string ended;
  while (!stopped_ && !desk.is_complete() && steady_clock::now() < until) {
    ended = why_over();
    if (ended.empty() && draining_ && !desk.is_at_stake()) ended = "the coordinator lets nobody in any more";
    if (!ended.empty()) break;
    {
      std::unique_lock lock(mutex_);
      // A little at a time, so that stop() and the end are never missed by much.
      auto wake = std::min(until, steady_clock::now() + std::chrono::milliseconds(200));
      if (const auto due = desk.due()) wake = std::min(wake, steady_clock::time_point(*due));
      if (jobs_.empty()) changed_.wait_until(lock, wake);
      jobs.swap(jobs_);
    }
    for (Job& job : jobs) job(desk, room_time(steady_clock::now()));
    jobs.clear();
    desk.tick(room_time(steady_clock::now()));
    const std::lock_guard lock(mutex_);
    counts_ = desk.counts();
  }
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
    jobs.swap(jobs_);
  }
  for (Job& job : jobs) job(desk, room_time(steady_clock::now()));
  if (desk.is_complete()) return desk.counts();
  if (stopped_) return failed("the coordinator stops");
  if (!ended.empty()) return failed("{}", ended);
  const DeskCounts counts = desk.counts();
  return failed("the order expired with {} of the groups summed, {} failed and {} devices waiting{}{}",
                counts.groups_summed, counts.groups_failed, counts.checked_in,
                counts.last_failure.empty() ? "" : "; last: ", counts.last_failure);
}

}  // namespace sotto::coordinator
