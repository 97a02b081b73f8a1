#include "privacy/noise/simulated_noise.h"

#include <array>
#include <cmath>

#include "base/distributions.h"
#include "privacy/noise/grid_noise.h"

namespace sotto::privacy {

namespace {

constexpr double simulated_resolution = 1 << 20;

// Made once: every simulated Gaussian (Laplace) is a multiple of the same table.
const GridNoise& unit_gaussian() {
  static const RoundedGaussian noise = RoundedGaussian::create(simulated_resolution).value();
  return noise;
}
const GridNoise& unit_laplace() {
  static const DiscreteLaplace noise = DiscreteLaplace::create(simulated_resolution).value();
  return noise;
}

void add_scaled(std::span<float> values, const GridNoise& noise, double scale, RandomSource& random) {
  std::array<std::int32_t, 1024> buffer;
  for (; !values.empty(); values = values.subspan(std::min(buffer.size(), values.size()))) {
    const auto chunk = std::span(buffer).first(std::min(buffer.size(), values.size()));
    noise.fill(chunk, random);
    for (std::size_t i = 0; i < chunk.size(); ++i) values[i] += static_cast<float>(chunk[i] * scale);
  }
}

Status check(double scale, std::uint64_t users) {
  if (!std::isfinite(scale) || scale <= 0)
    return bad_input("simulated noise scale is {}, must be above 0", scale);
  if (users == 0) return bad_input("simulated noise of 0 users: the sum must have at least one");
  return {};
}

}  // namespace

Status SimulatedNoise::add_gaussian(std::span<float> values, double sigma, std::uint64_t users) {
  SOTTO_CHECK(check(sigma, users));
  add_scaled(values, unit_gaussian(), sigma * std::sqrt(static_cast<double>(users)) / simulated_resolution,
             random_);
  return {};
}

Status SimulatedNoise::add_laplace(std::span<float> values, double scale, std::uint64_t users) {
  SOTTO_CHECK(check(scale, users));
  if (users == 1) {
    add_scaled(values, unit_laplace(), scale / simulated_resolution, random_);
    return {};
  }
  const auto shape = static_cast<double>(users);
  for (float& value : values) {
    const double plus = gamma(shape);
    value += static_cast<float>(scale * (plus - gamma(shape)));
  }
  return {};
}

double SimulatedNoise::gamma(double shape) {
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(random_);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(uniform_open01(random_)) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

}  // namespace sotto::privacy
