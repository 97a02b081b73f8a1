#include "privacy/mechanisms/gaussian_calibration.h"

#include <cmath>

#include "privacy/accounting/gaussian_exact.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto {

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

}  // namespace sotto
