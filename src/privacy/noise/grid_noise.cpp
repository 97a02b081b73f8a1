#include "privacy/noise/grid_noise.h"

#include <string.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sotto::privacy {

namespace {

constexpr double smallest_scale = 1.0 / 16;

// Σ x² w(x) / Σ w(x), summed where it is not the limit for wide laws anyway.
double discrete_gaussian_variance(double sigma_squared) {
  if (sigma_squared > 100) return sigma_squared;  // differs by less than e^-1900
  double mass = 1, moment = 0;
  for (int x = 1; x <= 200; ++x) {
    const double weight = 2 * std::exp(-x * x / (2 * sigma_squared));
    mass += weight;
    moment += weight * x * x;
  }
  return moment / mass;
}

double discrete_laplace_variance(double scale) {  // 2q/(1-q)² with q = e^(-1/scale)
  const double half = std::sinh(0.5 / scale);
  return 0.5 / (half * half);
}

}  // namespace

GridNoise::GridNoise(std::shared_ptr<const LatticeLaw> law, double variance)
    : sampler_(std::make_shared<BinnedSampler>(std::move(law))), variance_(variance) {}

std::int64_t GridNoise::sample(RandomSource& random) const {
  std::int64_t value = 0;
  fill(std::span(&value, 1), random);
  return value;
}

DiscreteGaussian::DiscreteGaussian(double sigma_squared)
    : GridNoise(std::make_shared<DiscreteGaussianLaw>(sigma_squared),
                discrete_gaussian_variance(sigma_squared)),
      sigma_(std::sqrt(sigma_squared)) {}

Result<DiscreteGaussian> DiscreteGaussian::create(double sigma) {
  SOTTO_TRY(
      const double sigma_squared,
      round_parameter_up(sigma * sigma, 1.0 / 16, largest_sigma * largest_sigma, "discrete Gaussian σ²"));
  return DiscreteGaussian(sigma_squared);
}

RoundedGaussian::RoundedGaussian(double sigma_squared)
    : GridNoise(std::make_shared<RoundedGaussianLaw>(sigma_squared), sigma_squared + 1.0 / 12),
      sigma_(std::sqrt(sigma_squared)) {}

Result<RoundedGaussian> RoundedGaussian::create(double sigma) {
  SOTTO_TRY(const double sigma_squared,
            round_parameter_up(sigma * sigma, 1 << 20, largest_sigma * largest_sigma, "rounded Gaussian σ²"));
  return RoundedGaussian(sigma_squared);
}

DiscreteLaplace::DiscreteLaplace(double scale)
    : GridNoise(std::make_shared<DiscreteLaplaceLaw>(scale), discrete_laplace_variance(scale)),
      scale_(scale) {}

Result<DiscreteLaplace> DiscreteLaplace::create(double scale) {
  SOTTO_TRY(const double rounded,
            round_parameter_up(scale, smallest_scale, largest_sigma, "discrete Laplace scale"));
  return DiscreteLaplace(rounded);
}

Result<Skellam> Skellam::create(double variance) {
  SOTTO_TRY(const double rounded, round_parameter_up(variance, 1.0 / parameter_denominator,
                                                     largest_sigma * largest_sigma, "Skellam variance"));
  return Skellam(rounded);
}

std::vector<double> GridVector::reals() const {
  std::vector<double> values(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) values[i] = static_cast<double>(steps[i]) * step;
  return values;
}

double grid_step_for(double noise_scale) {
  int exponent = 0;
  std::frexp(noise_scale, &exponent);  // 2^(exponent-1) <= noise_scale < 2^exponent
  return std::ldexp(1.0, exponent - 20);
}

Result<GridVector> snap(std::span<const double> values, double step) {
  GridVector snapped{step, std::vector<std::int64_t>(values.size())};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double steps = std::nearbyint(values[i] / step);
    if (!(std::fabs(steps) < 0x1.0p52)) {
      return bad_input("coordinate {} is {}, which no grid of step {} holds: clip the vector first", i,
                       values[i], step);
    }
    snapped.steps[i] = static_cast<std::int64_t>(steps);
  }
  return snapped;
}

double snapping_l1_charge(double step, std::uint64_t dimension) {
  return step * static_cast<double>(dimension);
}
double snapping_l2_charge(double step, std::uint64_t dimension) {
  return step * std::sqrt(static_cast<double>(dimension));
}

void add_noise(GridVector& vector, const GridNoise& noise, RandomSource& random) {
  std::array<std::int32_t, 1024> buffer;
  for (std::size_t done = 0; done < vector.steps.size(); done += buffer.size()) {
    const auto chunk = std::span(buffer).first(std::min(buffer.size(), vector.steps.size() - done));
    noise.fill(chunk, random);
    for (std::size_t i = 0; i < chunk.size(); ++i) vector.steps[done + i] += chunk[i];
  }
  explicit_bzero(buffer.data(), sizeof buffer);  // who knows the noise knows the value
}

}  // namespace sotto::privacy
