#include "secagg/vectors/noise_tail.h"

#include <cmath>
#include <variant>

namespace sotto {

NoiseSum noise_of(const NoiseShare& share, std::uint64_t devices) {
  const auto count = static_cast<double>(devices);
  const PrivacyEvent event = share.event();
  if (const auto* gaussian = std::get_if<DiscreteGaussianNoise>(&event.mechanism)) {
    return {ShareKind::discrete_gaussian, count * gaussian->sigma * gaussian->sigma};
  }
  return {ShareKind::skellam, count * share.share_variance()};
}

double log_tail_bound(const NoiseSum& noise, double height) {
  const double variance = noise.variance;
  if (noise.kind == ShareKind::discrete_gaussian) return -height * height / (2 * variance);
  const double slope = height / variance;
  // √(1 + s²) − 1 without cancellation.
  const double rise = slope * slope / (1 + std::sqrt(1 + slope * slope));
  return variance * rise - height * std::asinh(slope);
}

std::int64_t height_with_tail(const NoiseSum& noise, double log_probability) {
  const auto enough = [&](std::int64_t height) {
    return log_tail_bound(noise, static_cast<double>(height)) <= log_probability;
  };
  if (enough(0)) return 0;
  std::int64_t high = 1;
  while (!enough(high) && high < std::int64_t{1} << 61) high *= 2;
  std::int64_t low = high / 2;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace sotto
