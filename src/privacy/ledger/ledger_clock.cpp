#include "privacy/ledger/ledger_clock.h"

#include <xxhash.h>

#include <algorithm>
#include <fstream>

#ifdef __linux__
#include <sys/timex.h>
#include <time.h>
#endif

namespace sotto::privacy {

namespace chr = std::chrono;

namespace {
constexpr UtcTime earliest{};
constexpr UtcTime latest = chr::sys_days{chr::year{9999} / 12 / 31} + chr::hours{24} - chr::seconds{1};
constexpr chr::seconds longest_run = chr::days{366 * 100};
}  // namespace

Status validate(UtcTime time) {
  if (time >= earliest && time <= latest) return {};
  return bad_input("the time {} s after 1970 is outside of the years 1970 to 9999: set the clock",
                   time.time_since_epoch().count());
}

Status validate(const ClockReading& reading) {
  SOTTO_CHECK(validate(reading.wall));
  if (!reading.running) return {};
  if (reading.running->boot != 0 && reading.running->since.count() >= 0 &&
      reading.running->since <= longest_run) {
    return {};
  }
  return bad_input("a machine that was started as number {} has not been running for {} s",
                   reading.running->boot, reading.running->since.count());
}

ClockReading read_system_clocks() {
  ClockReading reading{chr::floor<chr::seconds>(chr::system_clock::now()), std::nullopt, false};
#ifdef __linux__
  timespec running{};
  std::string boot;
  if (std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot) &&
      ::clock_gettime(CLOCK_BOOTTIME, &running) == 0) {
    const std::uint64_t number = XXH3_64bits(boot.data(), boot.size());
    reading.running = RunningTime{std::max<std::uint64_t>(number, 1), chr::seconds{running.tv_sec}};
  }
  timex state{};
  reading.vouched = ::adjtimex(&state) != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
#endif
  return reading;
}

Moment moment_after(const Moment& last, const ClockReading& now) {
  const bool same_boot = last.running && now.running && last.running->boot == now.running->boot;
  chr::seconds proven{0};
  if (same_boot) {
    proven = std::max(chr::seconds{0}, now.running->since - last.running->since);
  } else if (last.running && now.running) {
    proven = now.running->since;  // started after the last moment, so at least this has passed
  }
  const UtcTime least = std::min(last.time + proven, latest);
  const bool believed =
      !same_boot && now.vouched && now.wall > least && now.wall - last.time <= most_unproven;
  return {believed ? now.wall : least, now.running};
}

std::string to_text(UtcTime time) {
  const auto day = chr::floor<chr::days>(time);
  const chr::year_month_day date{day};
  const chr::hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

WindowSpan window_around(BudgetWindow window, UtcTime time) {
  const auto day = chr::floor<chr::days>(time);
  switch (window) {
    case BudgetWindow::day:
      return {day, day + chr::days{1}};
    case BudgetWindow::month: {
      const chr::year_month_day date{day};
      const auto month = date.year() / date.month();
      return {chr::sys_days{month / 1}, chr::sys_days{(month + chr::months{1}) / 1}};
    }
    case BudgetWindow::lifetime:
      break;
  }
  return {earliest, std::nullopt};
}

std::string_view name(BudgetWindow window) {
  switch (window) {
    case BudgetWindow::day:
      return "day";
    case BudgetWindow::month:
      return "month";
    case BudgetWindow::lifetime:
      return "lifetime";
  }
  return "unknown";
}

}  // namespace sotto::privacy
