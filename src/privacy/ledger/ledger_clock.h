#pragma once
// Time as the ledger knows it: whole seconds in UTC, read by the caller, and the calendar windows in which
// budgets are counted.
//
// A wall clock can be wrong in both directions, so the ledger keeps a clock of its own, which never runs
// ahead of real time: what has passed since the last record counts as far as the machine's running time
// proves it. Of the time for which there is no proof (the machine was off, or cannot say) the wall clock is
// believed where the host vouches for it, up to 31 days; else it does not count. Whatever the wall clock does
// while the machine runs, no window opens before its time. Pure functions and plain values.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sotto::privacy {

using UtcTime = std::chrono::sys_seconds;

// From 1970 to the end of 9999: everything that the calendar below can hold.
Status validate(UtcTime time);

// "2026-03-01 00:00:00 UTC"
std::string to_text(UtcTime time);

// How long the machine has been running since it was last started, sleep included. Nobody sets this.
struct RunningTime {
  std::uint64_t boot = 0;  // which start that was, the same number until the next; not 0
  std::chrono::seconds since{0};
  bool operator==(const RunningTime&) const = default;
};

// What the clocks of a device say.
struct ClockReading {
  // A wall clock alone, for which the caller vouches.
  ClockReading(UtcTime time) : wall(time), vouched(true) {}
  ClockReading(UtcTime time, std::optional<RunningTime> machine, bool is_vouched)
      : wall(time), running(machine), vouched(is_vouched) {}

  UtcTime wall;
  std::optional<RunningTime> running;  // none: the machine cannot say
  bool vouched = false;                // the wall clock was set by something that the host trusts
};
Status validate(const ClockReading& reading);

// CLOCK_BOOTTIME and the kernel's number of the boot; vouched where the kernel says that the clock is kept in
// step with a time server.
ClockReading read_system_clocks();

// A moment of the ledger's clock, with what later ones are measured from.
struct Moment {
  Moment(UtcTime at) : time(at) {}
  Moment(UtcTime at, std::optional<RunningTime> machine) : time(at), running(machine) {}
  UtcTime time;
  std::optional<RunningTime> running;
};

// Beyond this a wall clock is not believed without proof.
constexpr std::chrono::days most_unproven{31};

// The ledger's clock at a reading after `last`; never before it.
Moment moment_after(const Moment& last, const ClockReading& now);

enum class BudgetWindow : std::uint8_t { day, month, lifetime };

// Calendar days and months of UTC. A window is fixed, not sliding: what one window allows can be spent at its
// very end, and again right after.
struct WindowSpan {
  UtcTime begin;
  std::optional<UtcTime> end;  // first second of the next window; none for the lifetime
};
WindowSpan window_around(BudgetWindow window, UtcTime time);

std::string_view name(BudgetWindow window);  // "day", "month", "lifetime"

}  // namespace sotto::privacy
