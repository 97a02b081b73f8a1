#include "data/newsroom/choice.h"

#include <numeric>

#include "base/distributions.h"

namespace sotto::newsroom {
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
