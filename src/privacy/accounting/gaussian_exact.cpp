#include "privacy/accounting/gaussian_exact.h"

#include <cmath>

#include "privacy/accounting/event.h"
#include "privacy/accounting/log_math.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto::privacy {

double gaussian_delta(double noise_multiplier, double epsilon) {
  const double half = 1 / (2 * noise_multiplier);
  const double shift = epsilon * noise_multiplier;
  const double first = log_normal_below(half - shift);
  const double second = epsilon + log_normal_below(-half - shift);
  return std::exp(log_subtract(first, second));
}

Result<double> gaussian_epsilon(double noise_multiplier, double delta) {
  SOTTO_CHECK(validate(Mechanism{GaussianNoise{noise_multiplier}}));
  SOTTO_CHECK(validate_delta(delta));
  if (gaussian_delta(noise_multiplier, 0) <= delta) return 0.0;
  double low = 0;
  double high = 1;
  while (gaussian_delta(noise_multiplier, high) > delta) {
    high *= 2;
    if (!std::isfinite(high))
      return bad_input("noise multiplier {} is too small to account for", noise_multiplier);
  }
  while (high - low > 1e-12 * high) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (gaussian_delta(noise_multiplier, middle) > delta ? low : high) = middle;
  }
  return high;
}

Result<double> gaussian_noise_for(double epsilon, double delta) {
  if (!(epsilon > 0) || !std::isfinite(epsilon)) {
    return bad_input("epsilon must be a finite number above 0, not {}", epsilon);
  }
  SOTTO_CHECK(validate_delta(delta));
  double high = 1;
  while (gaussian_delta(high, epsilon) > delta) high *= 2;
  double low = high / 2;
  while (low > 1e-300 && gaussian_delta(low, epsilon) <= delta) low /= 2;
  while (high - low > 1e-12 * high) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (gaussian_delta(middle, epsilon) > delta ? low : high) = middle;
  }
  return high;
}

Result<double> classical_noise_multiplier(double epsilon, double delta, GuaranteeMode mode) {
  SOTTO_CHECK(require_epsilon(epsilon));
  SOTTO_CHECK(require_delta(delta));
  if (mode == GuaranteeMode::sound && epsilon >= 1) {
    return bad_input(
        "the classical Gaussian formula is proved for epsilon below 1, not {}: use the analytic Gaussian",
        epsilon);
  }
  return std::sqrt(2 * std::log(1.25 / delta)) / epsilon;
}

Result<double> analytic_noise_multiplier(double epsilon, double delta) {
  SOTTO_CHECK(require_epsilon(epsilon));
  SOTTO_CHECK(require_delta(delta));
  return gaussian_noise_for(epsilon, delta);
}

Result<double> true_gaussian_epsilon(double noise_multiplier, double delta) {
  SOTTO_CHECK(require_positive(noise_multiplier, "noise multiplier"));
  SOTTO_CHECK(require_delta(delta));
  return gaussian_epsilon(noise_multiplier, delta);
}

}  // namespace sotto::privacy
