#pragma once
// The choice model: what a reader makes of a news item, and which of the shown ones are clicked.
//
//   utility(u, j, t)  = desire_u(t) . z_j + popularity_j(t)
//   desire_u(t)       = interest * long_term_u + drift * [theme occupying u on the day of t]
//   popularity_j(t)   = appeal_j - decay * min(age of j in days, 3)
//   P(next click = j) ~ exp(utility(u, j, t) - position_bias * ln(position of j)), among those not clicked
//   yet
//
// z_j is the theme mix of the item. The last line is Plackett-Luce.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "data/newsroom/world.h"

namespace sotto::newsroom {

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

}  // namespace sotto::newsroom
