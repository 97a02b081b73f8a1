#pragma once
// A reader's interests. Long-term interest lies in a few themes; short-term interest is one theme at a time
// that changes every few days.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "data/newsroom/world.h"

namespace sotto::data::newsroom {

struct ReaderProfile {
  std::vector<float> long_term;      // per theme, the strongest is 1
  std::uint32_t history_length = 0;  // clicks before the first recorded day
  double activity = 1;               // impressions relative to the mean reader
  int first_day = 0;                 // newcomers arrive during the recorded days and have no history
};

// Draws themes in proportion to their demand.
class ThemeSampler {
 public:
  explicit ThemeSampler(const std::vector<Theme>& themes);
  std::uint32_t operator()(RandomSource& random) const;
  // Share of all demand, which is also the share of the news that are about the theme.
  double share(std::uint32_t theme) const;

 private:
  std::vector<double> cumulative_;
};

ReaderProfile draw_reader(const World& world, const ThemeSampler& themes, const NewsroomSettings& settings,
                          RandomSource& random);

// The theme that occupies a reader at the moment. Call next_day() once per day, in order.
class Occupation {
 public:
  Occupation(const ThemeSampler& themes, RandomSource& random) : themes_(&themes), theme_(themes(random)) {}
  void next_day(RandomSource& random);
  std::uint32_t theme() const { return theme_; }

 private:
  const ThemeSampler* themes_;
  std::uint32_t theme_;
};

// The choice model: what a reader makes of a news item, and which of the shown ones are clicked.
//
//   utility(u, j, t)  = desire_u(t) . z_j + popularity_j(t)
//   desire_u(t)       = interest * long_term_u + drift * [theme occupying u on the day of t]
//   popularity_j(t)   = appeal_j - decay * min(age of j in days, 3)
//   P(next click = j) ~ exp(utility(u, j, t) - position_bias * ln(position of j)), among those not clicked
//   yet
//
// z_j is the theme mix of the item. The last line is Plackett-Luce.

// What the newsroom offers at a moment: recent news, fresh ones more often. An impression is a draw without
// replacement from the shelf, in random order.

// The i-th newest item is drawn with probability ~ exp(-i / S), S being the number of items published in the
// last 24 hours (at least 10); the shelf ends at 4 S. Remembers what the present reader has read. Refers to
// the items it was made from; not thread-safe.
class Shelf {
 public:
  explicit Shelf(std::span<const Item> items)
      : items_(items), read_by_(items.size(), 0), drawn_in_(items.size(), 0) {}

  // Forgets what the previous reader has read.
  void next_reader() { ++reader_; }
  void mark_read(std::uint32_t item) { read_by_[item] = reader_; }

  // Replaces `out` by up to `wanted` distinct items published before `now` and not read. At most half of the
  // shelf is shown, so that being shown stays a matter of chance.
  void draw(Seconds now, std::uint32_t wanted, RandomSource& random, std::vector<std::uint32_t>& out);

 private:
  std::size_t published_before(Seconds time) const;

  std::span<const Item> items_;
  std::vector<std::uint32_t> read_by_, drawn_in_;  // number of the reader, of the draw
  std::uint32_t reader_ = 1, draw_ = 0;
};

inline float dot(std::span<const float> per_theme, const ThemeMix& mix) {
  return mix.primary_share * per_theme[mix.primary] + (1 - mix.primary_share) * per_theme[mix.secondary];
}

constexpr double days_of_decay = 3;

inline float popularity(const NewsroomSettings& settings, const Item& item, Seconds now) {
  const double age = std::clamp(days_between(item.published, now), 0.0, days_of_decay);
  return static_cast<float>(item.appeal - settings.decay * age);
}

// How many items an impression shows and how many of them are clicked, shaped on MIND.
constexpr std::uint32_t largest_impression = 300;
std::uint32_t draw_impression_size(RandomSource& random);
// 1 + a geometric number of further clicks, at most half of what is shown.
std::uint32_t draw_click_count(std::uint32_t shown, double another_click, RandomSource& random);

// Draws clicks one after the other from what is not clicked yet. Not thread-safe: keeps a buffer.
class ClickDrawer {
 public:
  explicit ClickDrawer(double position_bias);
  // utilities: in display order, without position; at most largest_impression. Puts 1 for each of the
  // `clicks` chosen items and 0 for the others into `clicked`.
  void operator()(std::span<const float> utilities, std::uint32_t clicks, RandomSource& random,
                  std::span<std::uint8_t> clicked);

 private:
  std::vector<double> attention_;  // exp(-position_bias * ln(position)), from position 1
  std::vector<double> weights_;
};

}  // namespace sotto::data::newsroom
