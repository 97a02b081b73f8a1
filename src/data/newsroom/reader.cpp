#include "data/newsroom/reader.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/distributions.h"

namespace sotto::data::newsroom {

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

namespace {

constexpr Seconds fresh_for = 24 * 3600;
constexpr std::size_t least_scale = 10;
constexpr std::size_t shelf_length = 4;  // in scales: exp(-4) is where freshness has faded
constexpr std::uint32_t tries_per_item = 12;

}  // namespace

std::size_t Shelf::published_before(Seconds time) const {
  const auto end = std::lower_bound(items_.begin(), items_.end(), time,
                                    [](const Item& item, Seconds t) { return item.published < t; });
  return static_cast<std::size_t>(end - items_.begin());
}

void Shelf::draw(Seconds now, std::uint32_t wanted, RandomSource& random, std::vector<std::uint32_t>& out) {
  out.clear();
  ++draw_;
  const std::size_t end = published_before(now);
  const std::size_t scale = std::max(least_scale, end - published_before(now - fresh_for));
  const std::size_t length = std::min(end, shelf_length * scale);
  const std::size_t count = std::min<std::size_t>(wanted, length / 2);
  const double reach = 1 - std::exp(-static_cast<double>(length) / static_cast<double>(scale));
  for (std::size_t tries = tries_per_item * count; tries > 0 && out.size() < count; --tries) {
    // Inverse of the truncated exponential distribution of the age rank.
    const double rank = -static_cast<double>(scale) * std::log1p(-reach * uniform01(random));
    const std::size_t item = end - 1 - std::min(static_cast<std::size_t>(rank), length - 1);
    if (read_by_[item] == reader_ || drawn_in_[item] == draw_) continue;
    drawn_in_[item] = draw_;
    out.push_back(static_cast<std::uint32_t>(item));
  }
}

namespace {

// A Weibull with these two has MIND's quartiles of impression size (10, 24, 52) and its mean of 37.
constexpr double size_shape = 0.9;
constexpr double size_scale = 36;
constexpr double smallest_impression = 2;

}  // namespace

std::uint32_t draw_impression_size(RandomSource& random) {
  const double size = size_scale * std::pow(exponential(random), 1 / size_shape);
  return static_cast<std::uint32_t>(
      std::clamp(std::round(size), smallest_impression, static_cast<double>(largest_impression)));
}

std::uint32_t draw_click_count(std::uint32_t shown, double another_click, RandomSource& random) {
  std::uint32_t clicks = 1;
  while (clicks < shown / 2 && bernoulli(random, another_click)) ++clicks;
  return clicks;
}

ClickDrawer::ClickDrawer(double position_bias) {
  for (std::uint32_t position = 1; position <= largest_impression; ++position)
    attention_.push_back(std::pow(position, -position_bias));
}

void ClickDrawer::operator()(std::span<const float> utilities, std::uint32_t clicks, RandomSource& random,
                             std::span<std::uint8_t> clicked) {
  // The largest utility is taken out first: exp() of what is left cannot overflow.
  const float largest = *std::max_element(utilities.begin(), utilities.end());
  weights_.resize(utilities.size());
  for (std::size_t i = 0; i < utilities.size(); ++i)
    weights_[i] = attention_[i] * std::exp(static_cast<double>(utilities[i] - largest));
  std::fill(clicked.begin(), clicked.end(), std::uint8_t{0});
  for (std::uint32_t click = 0; click < clicks; ++click) {
    double point = uniform01(random) * std::accumulate(weights_.begin(), weights_.end(), 0.0);
    std::size_t chosen = 0;
    // Rounding may carry the point past the end: then the last item that can still be clicked is taken.
    for (std::size_t i = 0; i < weights_.size() && point >= 0; ++i) {
      if (clicked[i] != 0) continue;
      chosen = i;
      point -= weights_[i];
    }
    clicked[chosen] = 1;
    weights_[chosen] = 0;
  }
}

}  // namespace sotto::data::newsroom
