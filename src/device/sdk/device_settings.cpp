#include "base/settings.h"
#include "device/device.h"

namespace sotto {

void DeviceSettings::bind(SettingsTable& table) {
  table.add_choice("ranking", ranking, {"private", "popular", "local"},
                   "Ask privately, ask for the public list, or rank the pack without asking");
  query.bind(table);
  table.add("day_epsilon", day_epsilon, {0, 1e6}, "Budget per day; 0 for none")
      .add("month_epsilon", month_epsilon, {0, 1e6}, "Budget per month; 0 for none")
      .add("lifetime_epsilon", lifetime_epsilon, {0, 1e6}, "Budget for ever; 0 for none")
      .add("budget_delta", budget_delta, {1e-12, 1e-3}, "Delta of the budgets")
      .add("clicks_per_category", clicks_per_category, {1, 10'000},
           "Clicks kept on the device, newest first");
}

std::string_view name(Recommendations::Source source) {
  switch (source) {
    case Recommendations::Source::fresh_query:
      return "fresh query";
    case Recommendations::Source::repeated_query:
      return "repeated query";
    case Recommendations::Source::expired_query:
      return "expired query";
    case Recommendations::Source::popular:
      return "popular";
    case Recommendations::Source::local:
      return "local";
  }
  return "unknown";
}

}  // namespace sotto
