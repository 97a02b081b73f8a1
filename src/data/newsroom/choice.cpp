#include "data/newsroom/choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/distributions.h"

namespace sotto::newsroom {

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

}  // namespace sotto::newsroom
