#include "privacy/ledger/utc_time.h"

namespace sotto {

namespace chr = std::chrono;

namespace {
constexpr UtcTime kEarliest{};
constexpr UtcTime kLatest = chr::sys_days{chr::year{9999} / 12 / 31} + chr::hours{24} - chr::seconds{1};
}  // namespace

Status validate(UtcTime time) {
  if (time >= kEarliest && time <= kLatest) return {};
  return bad_input("the time {} s after 1970 is outside of the years 1970 to 9999: set the clock",
                   time.time_since_epoch().count());
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
  return {kEarliest, std::nullopt};
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

}  // namespace sotto
