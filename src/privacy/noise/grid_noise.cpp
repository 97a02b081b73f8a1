#include "privacy/noise/grid_noise.h"

#include <cmath>

namespace sotto {

namespace {

constexpr double kSmallestScale = 1.0 / 16;

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
      round_parameter_up(sigma * sigma, 1.0 / 16, kLargestSigma * kLargestSigma, "discrete Gaussian σ²"));
  return DiscreteGaussian(sigma_squared);
}

RoundedGaussian::RoundedGaussian(double sigma_squared)
    : GridNoise(std::make_shared<RoundedGaussianLaw>(sigma_squared), sigma_squared + 1.0 / 12),
      sigma_(std::sqrt(sigma_squared)) {}

Result<RoundedGaussian> RoundedGaussian::create(double sigma) {
  SOTTO_TRY(const double sigma_squared,
            round_parameter_up(sigma * sigma, 1 << 20, kLargestSigma * kLargestSigma, "rounded Gaussian σ²"));
  return RoundedGaussian(sigma_squared);
}

DiscreteLaplace::DiscreteLaplace(double scale)
    : GridNoise(std::make_shared<DiscreteLaplaceLaw>(scale), discrete_laplace_variance(scale)),
      scale_(scale) {}

Result<DiscreteLaplace> DiscreteLaplace::create(double scale) {
  SOTTO_TRY(const double rounded,
            round_parameter_up(scale, kSmallestScale, kLargestSigma, "discrete Laplace scale"));
  return DiscreteLaplace(rounded);
}

Result<Skellam> Skellam::create(double variance) {
  SOTTO_TRY(const double rounded, round_parameter_up(variance, 1.0 / kParameterDenominator,
                                                     kLargestSigma * kLargestSigma, "Skellam variance"));
  return Skellam(rounded);
}

}  // namespace sotto
