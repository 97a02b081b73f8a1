#include "data/newsroom/reader.h"

#include <algorithm>
#include <cmath>

namespace sotto::newsroom {
namespace {

constexpr int fewest_interests = 3;
constexpr int most_interests = 12;
// Readers take up themes until these cover a share of the news: with many small themes they follow more of
// them.
constexpr double coverage_median = 0.105, coverage_sigma = 0.4;
constexpr float sibling_aversion = 0.12F;
constexpr double change_of_occupation = 0.15;  // per day

// MIND: median 18, mean 32, 1 % above 200. A log-normal with these two has sigma = sqrt(2 ln(32 / 18)); the
// clicks of the recorded days come on top.
constexpr double history_median = 17.5;
constexpr double history_sigma = 1.08;
constexpr double history_limit = 450;
constexpr double share_of_old_news = 0.3;  // nobody has read more than this of what was published

constexpr double activity_sigma = 0.6;

std::uint32_t draw_history_length(const World& world, RandomSource& random) {
  const auto old_news = static_cast<double>(
      std::lower_bound(world.items.begin(), world.items.end(), history_days * seconds_per_day,
                       [](const Item& item, Seconds time) { return item.published < time; }) -
      world.items.begin());
  const double length = history_median * std::exp(history_sigma * normal(random));
  return static_cast<std::uint32_t>(
      std::clamp(length, 1.0, std::min(history_limit, share_of_old_news * old_news)));
}

// Who reads a desk for one theme skips its other themes: interest cannot be read off the category.
void skip_siblings(const std::vector<Theme>& themes, std::vector<float>& long_term) {
  const std::vector<float> likes = long_term;
  for (std::size_t liked = 0; liked < themes.size(); ++liked) {
    if (likes[liked] == 0) continue;
    for (std::size_t other = 0; other < themes.size(); ++other)
      if (likes[other] == 0 && themes[other].category == themes[liked].category)
        long_term[other] = std::min(long_term[other], -sibling_aversion * likes[liked]);
  }
}

}  // namespace

ThemeSampler::ThemeSampler(const std::vector<Theme>& themes) {
  double sum = 0;
  for (const Theme& theme : themes) cumulative_.push_back(sum += theme.demand);
}

std::uint32_t ThemeSampler::operator()(RandomSource& random) const {
  const double point = uniform01(random) * cumulative_.back();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, point);
  return static_cast<std::uint32_t>(found - cumulative_.begin());
}

double ThemeSampler::share(std::uint32_t theme) const {
  return (cumulative_[theme] - (theme > 0 ? cumulative_[theme - 1] : 0)) / cumulative_.back();
}

ReaderProfile draw_reader(const World& world, const ThemeSampler& themes, const NewsroomSettings& settings,
                          RandomSource& random) {
  ReaderProfile reader;
  reader.long_term.assign(world.themes.size(), 0.0F);
  // The k-th interest weighs about k^-0.25: a favourite, then a tail.
  const double wanted = coverage_median * std::exp(coverage_sigma * normal(random));
  double covered = 0;
  for (int k = 1; k <= fewest_interests || (k <= most_interests && covered < wanted); ++k) {
    const double weight = k == 1 ? 1.0 : (0.85 + 0.3 * uniform01(random)) / std::pow(k, 0.25);
    const std::uint32_t theme = themes(random);
    float& held = reader.long_term[theme];
    if (held == 0) covered += themes.share(theme);
    held = std::max(held, static_cast<float>(std::min(weight, 1.0)));
  }
  skip_siblings(world.themes, reader.long_term);
  if (bernoulli(random, settings.cold_users))
    reader.first_day = history_days + static_cast<int>(uniform_below(
                                          random, static_cast<std::uint64_t>(world.calendar.recorded_days)));
  else
    reader.history_length = draw_history_length(world, random);
  // exp(-sigma^2 / 2) makes the mean 1.
  reader.activity = std::exp(activity_sigma * normal(random) - activity_sigma * activity_sigma / 2);
  return reader;
}

void Occupation::next_day(RandomSource& random) {
  if (bernoulli(random, change_of_occupation)) theme_ = (*themes_)(random);
}

}  // namespace sotto::newsroom
