#pragma once
// A reader's interests. Long-term interest lies in a few themes; short-term interest is one theme at a time
// that changes every few days.

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "data/newsroom/world.h"

namespace sotto::newsroom {

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

}  // namespace sotto::newsroom
