#include "eval/experiments/quick_clock.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sotto::eval {

namespace {
constexpr double training_share = 0.75;
}  // namespace

Seconds steady_seconds() {
  return [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
}

QuickClock::QuickClock(Seconds now, double share)
    : now_(now ? std::move(now) : steady_seconds()), end_(now_() + share * seconds_in_all) {}

std::function<bool()> QuickClock::training_of_one_of(std::size_t rows_left) const {
  const double begin = now_(), left = std::max(end_ - begin, 0.0),
               end = begin + training_share * left / static_cast<double>(std::max<std::size_t>(rows_left, 1));
  return [now = now_, end] { return now() >= end; };
}

}  // namespace sotto::eval
