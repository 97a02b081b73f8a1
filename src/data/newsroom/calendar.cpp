#include "data/newsroom/calendar.h"

#include <fmt/format.h>

#include <chrono>
#include <iterator>

namespace sotto::newsroom {

void append_mind_time(std::string& out, Seconds time) {
  using namespace std::chrono;
  const sys_seconds moment{seconds{unix_time(time)}};
  const auto midnight = floor<days>(moment);
  const year_month_day date{midnight};
  const hh_mm_ss clock{moment - midnight};
  const auto hour = clock.hours().count();
  fmt::format_to(std::back_inserter(out), "{}/{}/{} {}:{:02}:{:02} {}", static_cast<unsigned>(date.month()),
                 static_cast<unsigned>(date.day()), static_cast<int>(date.year()),
                 hour % 12 == 0 ? 12 : hour % 12, clock.minutes().count(), clock.seconds().count(),
                 hour < 12 ? "AM" : "PM");
}

}  // namespace sotto::newsroom
