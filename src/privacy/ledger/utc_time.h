#pragma once
// Time as the ledger knows it: whole seconds in UTC, always handed in by the caller, and the calendar windows
// in which budgets are counted.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sotto {

using UtcTime = std::chrono::sys_seconds;

// From 1970 to the end of 9999: everything that the calendar below can hold.
Status validate(UtcTime time);

// "2026-03-01 00:00:00 UTC"
std::string to_text(UtcTime time);

enum class BudgetWindow : std::uint8_t { day, month, lifetime };

// Calendar days and months of UTC. A window is fixed, not sliding: what one window allows can be spent at its
// very end, and again right after.
struct WindowSpan {
  UtcTime begin;
  std::optional<UtcTime> end;  // first second of the next window; none for the lifetime
};
WindowSpan window_around(BudgetWindow window, UtcTime time);

std::string_view name(BudgetWindow window);  // "day", "month", "lifetime"

}  // namespace sotto
