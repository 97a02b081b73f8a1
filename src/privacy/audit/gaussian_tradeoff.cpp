#include "privacy/audit/gaussian_tradeoff.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "privacy/accounting/gaussian_exact.h"
#include "privacy/accounting/log_math.h"

namespace sotto::privacy {

double normal_quantile(double p) {
  if (!(p > 0)) return -infinity;
  if (p >= 1) return infinity;
  if (p > 0.5) return -normal_quantile(1 - p);
  // log Φ is concave, and Φ(z) <= p at the start: Newton's steps climb to the root and never pass it.
  const double target = std::log(p);
  double z = -std::sqrt(-2 * target);
  for (int i = 0; i < 50; ++i) {
    const double log_below = log_normal_below(z);
    const double log_density = -z * z / 2 - 0.5 * std::log(2 * std::numbers::pi);
    const double step = (target - log_below) * std::exp(log_below - log_density);
    z += step;
    if (!(step > 1e-14 * std::fabs(z))) break;
  }
  return z;
}

double mu_of_rates(double likely, double unlikely) {
  return std::max(0.0, normal_quantile(likely) - normal_quantile(unlikely));
}

Result<double> epsilon_of_mu(double mu, double delta) {
  if (!(mu > 0)) return 0.0;
  if (std::isinf(mu)) return infinity;
  return gaussian_epsilon(1 / mu, delta);
}

}  // namespace sotto::privacy
