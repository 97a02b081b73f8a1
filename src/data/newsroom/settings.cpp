#include "data/newsroom/settings.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto::data {
namespace {

constexpr Range<std::int64_t> users_range{10, 10'000'000};
constexpr Range<std::int64_t> news_range{50, 1'000'000};
constexpr Range<std::int64_t> days_range{2, 60};
constexpr Range<std::int64_t> seed_range{0, std::numeric_limits<std::int64_t>::max()};
constexpr Range<double> strength_range{0, 20};
constexpr Range<double> share_range{0, 1};
constexpr std::int64_t least_news_per_day = 10;

template <class T>
Status within(const char* name, T value, Range<T> range) {
  // Written so that NaN is out of range too.
  if (value >= range.low && value <= range.high) return {};
  return bad_input("newsroom setting {} is {}: choose a value from {} to {}", name, value, range.low,
                   range.high);
}

}  // namespace

void NewsroomSettings::bind(SettingsTable& table) {
  table.add("users", users, users_range, "Number of readers")
      .add("news", news, news_range, "Number of news items, at least 10 per day")
      .add("days", days, days_range, "Days of recorded impressions; the last one is the test day")
      .add("seed", seed, seed_range, "Same seed and settings, same files")
      .add("headlines", headlines,
           "File to take titles from (JSON lines {\"raw\", \"label\"}, or category<TAB>headline, or plain "
           "lines); "
           "empty: titles are written from the built-in vocabulary")
      .add("interest", interest, strength_range, "Strength of long-term interest in a reader's choice")
      .add("drift", drift, strength_range, "Strength of short-term interest in a reader's choice")
      .add("appeal", appeal, strength_range, "Spread of the appeal news have to everyone")
      .add("decay", decay, strength_range, "Appeal lost per day of age")
      .add("position_bias", position_bias, strength_range,
           "Loss per natural logarithm of the position in the list")
      .add("cold_users", cold_users, share_range,
           "Share of readers who arrive during the recorded days, without a history")
      .add("vague_titles", vague_titles, share_range, "Share of titles that say little about their theme");
}

Status NewsroomSettings::validate() const {
  SOTTO_CHECK(within("users", users, users_range));
  SOTTO_CHECK(within("news", news, news_range));
  SOTTO_CHECK(within("days", days, days_range));
  SOTTO_CHECK(within("seed", seed, seed_range));
  SOTTO_CHECK(within("interest", interest, strength_range));
  SOTTO_CHECK(within("drift", drift, strength_range));
  SOTTO_CHECK(within("appeal", appeal, strength_range));
  SOTTO_CHECK(within("decay", decay, strength_range));
  SOTTO_CHECK(within("position_bias", position_bias, strength_range));
  SOTTO_CHECK(within("cold_users", cold_users, share_range));
  SOTTO_CHECK(within("vague_titles", vague_titles, share_range));
  if (news < least_news_per_day * days)
    return bad_input("{} news are too few for {} days: ask for at least {} news or fewer days", news, days,
                     least_news_per_day * days);
  return {};
}

}  // namespace sotto::data
