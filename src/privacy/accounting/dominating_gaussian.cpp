#include "privacy/accounting/dominating_gaussian.h"

#include <cmath>

#include "privacy/accounting/rdp_curves.h"

namespace sotto::privacy {

namespace {

constexpr double rounding_loss = 1e-12;  // far above what the few operations below lose; charged upwards

std::optional<GaussianNoise> with_curvature(std::optional<double> curvature, double l2_sensitivity) {
  if (!curvature) return std::nullopt;
  const auto variance = gaussian_variance_of_curvature(*curvature);
  if (!variance) return std::nullopt;
  return GaussianNoise{std::sqrt(*variance) / l2_sensitivity * (1 - rounding_loss)};
}

}  // namespace

std::optional<double> gaussian_variance_of_curvature(double curvature) {
  if (!(curvature > 0 && curvature <= 0.5)) return std::nullopt;
  // No step of the quantiles is longer than D: D²/4 ≤ c at once, then D² ≤ c/(1 − D²/4) twice.
  const double first = curvature / (1 - curvature);
  return (1 - first / 4) / curvature * (1 - rounding_loss);
}

std::optional<double> skellam_curvature(double variance) {
  if (!(variance >= 2.5)) return std::nullopt;
  return -std::log1p(-(1 / variance + 1 / (4 * variance * variance))) * (1 + rounding_loss);
}

std::optional<GaussianNoise> dominating_gaussian(const Mechanism& mechanism) {
  if (const auto* gaussian = std::get_if<GaussianNoise>(&mechanism)) return *gaussian;
  if (const auto* skellam = std::get_if<SkellamNoise>(&mechanism))
    return with_curvature(skellam_curvature(skellam->variance), skellam->l2_sensitivity);
  if (const auto* discrete = std::get_if<DiscreteGaussianNoise>(&mechanism)) {
    const double variance = static_cast<double>(discrete->summands) * discrete->sigma * discrete->sigma;
    // The sum is within e^{±τ} of a discrete Gaussian at every integer, and a second difference has four
    // terms.
    const double slack = 4 * discrete_gaussian_sum_slack(discrete->sigma, discrete->summands);
    return with_curvature((1 / variance + slack) * (1 + rounding_loss), discrete->l2_sensitivity);
  }
  return std::nullopt;
}

}  // namespace sotto::privacy
