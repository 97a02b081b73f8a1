#include <fmt/format.h>

#include <chrono>

#include "base/utf8.h"
#include "data/describe.h"

namespace sotto::data {

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, 1, ',');
  return digits;
}

namespace {

std::string line(std::string_view label, std::string_view value) {
  return fmt::format("{:<24}{}\n", label, value);
}

std::string spread(const Distribution& values) {
  return fmt::format("mean {:.2f}, quartiles {} / {} / {}, 90 % at most {}, largest {}", values.mean,
                     grouped(values.lower_quartile), grouped(values.median), grouped(values.upper_quartile),
                     grouped(values.ninety_percent), grouped(values.largest));
}

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t name = 0; name < names.size() && name < most; ++name) {
    text += (name == 0 ? "" : ", ") + printable(names[name], 60);
  }
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

// Settings are kept as JSON without spaces, where no line could be folded.
std::string with_room(std::string text) {
  for (std::size_t at = text.find(",\""); at != std::string::npos; at = text.find(",\"", at + 2))
    text.insert(at + 1, 1, ' ');
  return text;
}

// Seconds since 1970 as a UTC day; the number itself when no calendar reaches that far.
std::string day(std::int64_t time) {
  constexpr std::int64_t ten_thousand_years = std::int64_t{10'000} * 366 * 86'400;
  if (time < -ten_thousand_years || time > ten_thousand_years) return std::to_string(time);
  const auto days =
      std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(time)));
  const std::chrono::year_month_day date(days);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::string_view described(NonClicks origin) {
  switch (origin) {
    case NonClicks::public_catalogue:
      return "drawn from the public catalogue alone";
    case NonClicks::all_users:
      return "drawn by what all users did: not for private recipes";
    default:
      return "as recorded";
  }
}

std::string items_text(const DatasetSummary& summary) {
  std::string text =
      line("items", fmt::format("{} ({} with a title, {} with an abstract)", grouped(summary.counts.items),
                                grouped(summary.items_with_title), grouped(summary.items_with_abstract)));
  if (summary.public_items < summary.counts.items) {
    text +=
        line("  public catalogue",
             fmt::format("names {} of them; the others are known from users' rows: not for private recipes",
                         grouped(summary.public_items)));
  }
  if (summary.title_words.count > 0) text += line("words per title", spread(summary.title_words));
  if (summary.categories > 0) {
    text += line("categories", fmt::format("{}, subcategories {}", grouped(summary.categories),
                                           grouped(summary.subcategories)));
  }
  if (summary.entities > 0) {
    text += line("entities", summary.entity_dimension == 0
                                 ? grouped(summary.entities)
                                 : fmt::format("{} with vectors of {}", grouped(summary.entities),
                                               summary.entity_dimension));
  }
  if (!summary.item_features.empty()) text += line("item features", joined(summary.item_features));
  if (!summary.user_features.empty()) text += line("user features", joined(summary.user_features));
  return text;
}

std::string impressions_text(const DatasetSummary& summary) {
  std::string text = line("impressions", fmt::format("{}, {} clicks", grouped(summary.counts.impressions),
                                                     grouped(summary.counts.clicks)));
  constexpr std::array<std::string_view, 3> split_names = {"  training", "  validation", "  test"};
  for (std::size_t split = 0; split < split_names.size(); ++split) {
    const SplitSummary& part = summary.splits[split];
    if (part.impressions == 0) continue;
    text += line(split_names[split], fmt::format("{} impressions of {} users, {} items shown, {} clicks",
                                                 grouped(part.impressions), grouped(part.users),
                                                 grouped(part.shown), grouped(part.clicks)));
  }
  text += line("training non-clicks", described(summary.training_non_clicks));
  text += line("who decides what tests", summary.split_origin == SplitOrigin::all_users
                                             ? "the rows of all users: not for private recipes"
                                             : "what is public, and each user's own rows");
  text += line("history length", spread(summary.history_length));
  text += line("items per impression", spread(summary.impression_size));
  text += line("clicks per impression", spread(summary.clicks_per_impression));
  text += line("impressions per user", spread(summary.impressions_per_user));
  if (summary.splits[static_cast<std::size_t>(Split::test)].shown > 0) {
    text += line("unseen test candidates", fmt::format("{:.1f} %", 100 * summary.unseen_test_share));
  }
  return text;
}

std::string interactions_text(const DatasetSummary& summary) {
  std::string text = line("interactions", grouped(summary.counts.interactions));
  text += line("  per user", spread(summary.interactions_per_user));
  if (summary.rated > 0) {
    text += line("ratings", fmt::format("{}, mean {:.2f}", grouped(summary.rated), summary.mean_rating));
  }
  if (!summary.context_features.empty()) text += line("context", joined(summary.context_features));
  return text;
}

}  // namespace

std::string_view name(NonClicks origin) {
  switch (origin) {
    case NonClicks::public_catalogue:
      return "public catalogue";
    case NonClicks::all_users:
      return "all users";
    default:
      return "recorded";
  }
}

std::string_view name(SplitOrigin origin) {
  return origin == SplitOrigin::all_users ? "all users" : "public or own";
}

std::string to_text(const DatasetSummary& summary) {
  std::string text = line("dataset", printable(summary.name));
  if (!summary.origin.empty()) text += line("origin", with_room(printable(summary.origin, 1000)));
  text += line("users", grouped(summary.counts.users));
  text += items_text(summary);
  if (summary.counts.impressions > 0) text += impressions_text(summary);
  if (summary.counts.interactions > 0) text += interactions_text(summary);
  if (summary.first_time != 0 || summary.last_time != 0) {
    text += line("time", fmt::format("{} to {}", day(summary.first_time), day(summary.last_time)));
  }
  if (summary.tied_share > many_ties) {
    text += line("order", fmt::format("{:.1f} % of a user's events have the time of the one before: their "
                                      "order is drawn from the import's seed and means nothing",
                                      100 * summary.tied_share));
  }
  if (!summary.undeclared_columns.empty()) {
    text += line("no declared values",
                 joined(summary.undeclared_columns) + ": private recipes leave these columns out");
  }
  return text;
}

}  // namespace sotto::data
