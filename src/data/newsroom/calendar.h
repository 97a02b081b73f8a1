#pragma once
// The newsroom's time: seconds since the midnight that opens the history period. Histories grow for two weeks
// before the first recorded day, as MIND's do before its recorded week.

#include <cstdint>
#include <string>

#include "base/distributions.h"

namespace sotto::newsroom {

using Seconds = std::int32_t;
constexpr Seconds seconds_per_day = 86'400;
constexpr int history_days = 10;
constexpr std::int64_t first_recorded_midnight = 1'709'510'400;  // Monday 4 March 2024, UTC

struct Calendar {
  int recorded_days;
  int test_day() const { return history_days + recorded_days - 1; }
  int all_days() const { return history_days + recorded_days; }
};

inline int day_of(Seconds time) { return time / seconds_per_day; }
inline double days_between(Seconds from, Seconds to) {
  return static_cast<double>(to - from) / static_cast<double>(seconds_per_day);
}

// A moment of the given day between two hours, most often in the middle of them.
inline Seconds moment(RandomSource& random, int day, double from_hour, double to_hour) {
  const double hour = from_hour + (to_hour - from_hour) * (uniform01(random) + uniform01(random)) / 2;
  return day * seconds_per_day + static_cast<Seconds>(hour * 3600);
}

// Seconds since 1970.
inline std::int64_t unix_time(Seconds time) {
  return first_recorded_midnight + time - std::int64_t{history_days} * seconds_per_day;
}

// Appends the time as MIND writes it: 11/9/2019 6:42:51 PM.
void append_mind_time(std::string& out, Seconds time);

}  // namespace sotto::newsroom
