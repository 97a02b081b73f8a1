#pragma once
// Sums, differences and binomials of numbers kept as logarithms, so that e^{1000} is an ordinary value.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace sotto::privacy {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
// Relative error of one rounded operation.
inline constexpr double rounding_unit = std::numeric_limits<double>::epsilon() / 2;

// log(e^a + e^b)
inline double log_add(double a, double b) {
  const double high = std::max(a, b);
  if (high == -infinity || high == infinity) return high;
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

// log(e^a − e^b) for a ≥ b
inline double log_subtract(double a, double b) {
  if (b == -infinity) return a;
  if (a <= b) return -infinity;
  return a + std::log(-std::expm1(b - a));
}

// log(e^x − 1) for x > 0
inline double log_expm1(double x) { return x > 40 ? x : std::log(std::expm1(x)); }

inline double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);  // std::lgamma writes a global
}

// log of the binomial coefficient, 0 ≤ k ≤ n
inline double log_binomial(double n, double k) {
  return log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1);
}

// log erfc(x), also where erfc(x) itself is below the smallest double.
inline double log_erfc(double x) {
  if (x < 20) return std::log(std::erfc(x));
  const double u = 1 / (2 * x * x);  // asymptotic series: the next term is below 1e-13 here
  return -x * x - std::log(x) - 0.5 * std::log(std::numbers::pi) + std::log1p(-u * (1 - 3 * u * (1 - 5 * u)));
}

// Probability that a standard normal is below z, accurate in the lower tail.
inline double normal_below(double z) { return 0.5 * std::erfc(-z * std::numbers::sqrt2 / 2); }
inline double log_normal_below(double z) {
  return log_erfc(-z * std::numbers::sqrt2 / 2) - std::numbers::ln2;
}

}  // namespace sotto::privacy
