#include "metrics/click_rate.h"

#include <numeric>

namespace sotto {

void ClickRates::add(std::span<const std::uint32_t> shown, std::span<const std::uint8_t> clicked) {
  for (std::size_t i = 0; i < shown.size(); ++i) {
    ++shown_[shown[i]];
    clicked_[shown[i]] += clicked[i] != 0 ? 1 : 0;
  }
}

std::vector<float> ClickRates::smoothed() const {
  const auto total = [](const std::vector<std::uint64_t>& counts) {
    return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  };
  const double mean = total(shown_) > 0 ? total(clicked_) / total(shown_) : 0;
  std::vector<float> rates(shown_.size());
  for (std::size_t i = 0; i < rates.size(); ++i)
    rates[i] = static_cast<float>((static_cast<double>(clicked_[i]) + prior * mean) /
                                  (static_cast<double>(shown_[i]) + prior));
  return rates;
}

}  // namespace sotto
