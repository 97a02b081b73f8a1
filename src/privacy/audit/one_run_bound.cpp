#include "privacy/audit/one_run_bound.h"

#include <algorithm>
#include <cmath>

#include "privacy/accounting/log_math.h"
#include "privacy/audit/binomial_bounds.h"
#include "privacy/audit/gaussian_tradeoff.h"

namespace sotto {

namespace {

// Guarantees weaken as their parameter grows: whatever refutes one refutes all smaller ones. So the lower end
// of a bisection is proved whether or not the test is monotone in floating point.
template <class Refuted>
double largest_refuted(double limit, Refuted refuted) {
  if (!refuted(0.0)) return 0;
  double low = 0, high = limit;
  while (high - low > 1e-9 * high) {
    const double middle = (low + high) / 2;
    (refuted(middle) ? low : high) = middle;
  }
  return low;
}

constexpr double kRoundingReserve = 1 - 1e-6;  // of the failure probability

}  // namespace

double one_run_p_value(const Guesses& guesses, double epsilon, double delta) {
  const auto [canaries, made, right] = guesses;
  const double accuracy = 1 / (1 + std::exp(-epsilon));
  const double lucky = binomial_at_least(made, right, accuracy);
  double steepest = 0, between = 0;
  if (delta > 0) {
    for (std::uint64_t i = 1; i <= right; ++i) {
      between += binomial_mass(made, right - i, accuracy);
      steepest = std::max(steepest, between / static_cast<double>(i));
    }
  }
  return std::min(1.0, lucky + 2 * static_cast<double>(canaries) * delta * steepest);
}

double one_run_epsilon(const Guesses& guesses, double delta, double failure) {
  constexpr double kLargest = 64;
  return largest_refuted(kLargest, [&](double epsilon) {
    return one_run_p_value(guesses, epsilon, delta) < failure * kRoundingReserve;
  });
}

bool one_run_refutes(const Guesses& guesses, const std::function<double(double)>& least, double failure) {
  const auto canaries = static_cast<double>(guesses.canaries), made = static_cast<double>(guesses.made);
  double tail = failure * kRoundingReserve;  // T_c
  double beyond = 0;                         // Σ_{j>c} T_j
  for (auto c = static_cast<double>(guesses.right); c >= 1; --c) {
    const double right_share = (c * tail + beyond) / canaries;
    beyond += tail;
    tail = std::max(tail, (beyond + canaries * least(right_share)) / (made - c + 1));
    if (tail > 1) return true;
  }
  return false;
}

double one_run_mu(const Guesses& guesses, double failure) {
  constexpr double kLargest = 32;
  return largest_refuted(kLargest, [&](double mu) {
    return one_run_refutes(
        guesses, [mu](double share) { return normal_below(normal_quantile(share) - mu); }, failure);
  });
}

}  // namespace sotto
