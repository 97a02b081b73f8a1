#include "privacy/audit/binomial_bounds.h"

#include <algorithm>
#include <cmath>

#include "privacy/accounting/log_math.h"

namespace sotto {

namespace {

// `p` and `complement` = 1 − p are both given, so that neither loses its digits near 0.
double mass(double trials, double successes, double p, double complement) {
  if (p <= 0) return successes == 0 ? 1 : 0;
  if (complement <= 0) return successes == trials ? 1 : 0;
  return std::exp(log_binomial(trials, successes) + successes * std::log(p) +
                  (trials - successes) * std::log(complement));
}

double at_least(double trials, double successes, double p, double complement) {
  if (successes <= 0) return 1;
  if (successes > trials || p <= 0) return 0;
  if (complement <= 0) return 1;
  if (successes <= trials * p) {  // the other tail is the smaller one
    return std::max(0.0, 1 - at_least(trials, trials - successes + 1, complement, p));
  }
  double term = mass(trials, successes, p, complement), sum = 0;
  for (double k = successes; k <= trials && term > 1e-17 * sum; ++k) {
    sum += term;
    term *= (trials - k) / (k + 1) * (p / complement);
  }
  return std::min(1.0, sum);
}

}  // namespace

double binomial_mass(std::uint64_t trials, std::uint64_t successes, double p) {
  return mass(static_cast<double>(trials), static_cast<double>(successes), p, 1 - p);
}

double binomial_at_least(std::uint64_t trials, std::uint64_t successes, double p) {
  return at_least(static_cast<double>(trials), static_cast<double>(successes), p, 1 - p);
}

double binomial_at_most(std::uint64_t trials, std::uint64_t successes, double p) {
  return at_least(static_cast<double>(trials), static_cast<double>(trials) - static_cast<double>(successes),
                  1 - p, p);
}

double clopper_pearson_lower(std::uint64_t trials, std::uint64_t successes, double failure) {
  if (successes == 0) return 0;
  failure *= 1 - 1e-6;  // covers the rounding errors of the tail
  double low = 0, high = static_cast<double>(successes) / static_cast<double>(trials);
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = (low + high) / 2;
    (binomial_at_least(trials, successes, middle) <= failure ? low : high) = middle;
  }
  return low;
}

double clopper_pearson_upper(std::uint64_t trials, std::uint64_t successes, double failure) {
  return 1 - clopper_pearson_lower(trials, trials - successes, failure);
}

}  // namespace sotto
