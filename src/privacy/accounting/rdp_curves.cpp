#include "privacy/accounting/rdp_curves.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "privacy/accounting/log_math.h"

namespace sotto::privacy {

namespace {

double square(double x) { return x * x; }

double rdp(const GaussianNoise& m, double alpha) { return alpha / (2 * square(m.noise_multiplier)); }

// Mironov 2017, Table II. One coordinate carrying the whole L1 sensitivity is the worst case.
double rdp(const LaplaceNoise& m, double alpha) {
  const double epsilon = 1 / m.scale;
  const double up = std::log(alpha / (2 * alpha - 1)) + (alpha - 1) * epsilon;
  const double down = std::log((alpha - 1) / (2 * alpha - 1)) - alpha * epsilon;
  return log_add(up, down) / (alpha - 1);
}

// Exact: the two reports that tell the neighbours apart, and the categories − 2 that do not.
double rdp(const RandomisedResponse& m, double alpha) {
  const double others = static_cast<double>(m.categories - 1);
  const double log_total = log_add(m.epsilon, std::log(others));
  double sum = log_add(alpha * m.epsilon - log_total, (1 - alpha) * m.epsilon - log_total);
  if (m.categories > 2) sum = log_add(sum, std::log(others - 1) - log_total);
  return std::max(0.0, sum / (alpha - 1));
}

// Two-valued randomised response dominates every ε-DP mechanism (Kairouz, Oh, Viswanath 2015).
double rdp(const PureDp& m, double alpha) { return rdp(RandomisedResponse{m.epsilon, 2}, alpha); }
double rdp(const ApproximateDp& m, double alpha) {
  return m.epsilon > 0 ? rdp(PureDp{m.epsilon}, alpha) : 0.0;
}
double rdp(const ConcentratedDp& m, double alpha) { return m.rho * alpha; }

// Kairouz, Liu, Steinke 2021, Proposition 14; with one summand τ = 0 and this is Canonne, Kamath, Steinke
// 2020.
double rdp(const DiscreteGaussianNoise& m, double alpha) {
  const double total_sigma = std::sqrt(static_cast<double>(m.summands)) * m.sigma;
  const double l1 = m.l1_sensitivity / total_sigma;
  const double l2 = m.l2_sensitivity / total_sigma;
  const double dimension = static_cast<double>(m.dimension);
  const double tau = discrete_gaussian_sum_slack(m.sigma, m.summands);
  const double pointwise = alpha / 2 * square(l2) + tau * dimension;
  const double by_l1 = alpha / 2 * (square(l2) + 2 * l1 * tau + square(tau) * dimension);
  const double by_l2 = alpha / 2 * square(l2 + tau * std::sqrt(dimension));
  return std::min({pointwise, by_l1, by_l2});
}

// Agarwal, Kairouz, Liu 2021 (The Skellam mechanism for differentially private federated learning).
double rdp(const SkellamNoise& m, double alpha) {
  if (alpha != std::floor(alpha)) return infinity;
  const double l2_squared = square(m.l2_sensitivity);
  const double gap =
      std::min(((2 * alpha - 1) * l2_squared + 6 * m.l1_sensitivity) / (4 * square(m.variance)),
               3 * m.l1_sensitivity / (2 * m.variance));
  return alpha * l2_squared / (2 * m.variance) + gap;
}

}  // namespace

double rdp_unsampled(const Mechanism& mechanism, double alpha) {
  return std::visit([alpha](const auto& m) { return rdp(m, alpha); }, mechanism);
}

double rdp_at_infinity(const Mechanism& mechanism) {
  if (const auto* m = std::get_if<LaplaceNoise>(&mechanism)) return 1 / m->scale;
  if (const auto* m = std::get_if<RandomisedResponse>(&mechanism)) return m->epsilon;
  if (const auto* m = std::get_if<PureDp>(&mechanism)) return m->epsilon;
  if (const auto* m = std::get_if<ApproximateDp>(&mechanism)) return m->epsilon;
  return infinity;
}

bool covers_fractional_orders(const Mechanism& mechanism) {
  return !std::holds_alternative<SkellamNoise>(mechanism);
}

double discrete_gaussian_sum_slack(double sigma, std::uint64_t summands) {
  const double exponent = 2 * square(std::numbers::pi * sigma);
  double sum = 0;
  for (std::uint64_t k = 1; k < summands; ++k) {
    // The terms decrease towards e^{−exponent}; past a million the rest is bounded by the current term.
    const double term = std::exp(-exponent * static_cast<double>(k) / static_cast<double>(k + 1));
    if (k == 1'000'000) return 10 * (sum + term * static_cast<double>(summands - k));
    sum += term;
  }
  return 10 * sum;
}

namespace {

// log E[(P/Q)^α] at integer α: Σ C(α,k) (1−q)^{α−k} q^k e^{k(k−1)/(2z²)}.
double log_moment_integer(double q, double z, double alpha) {
  if (alpha <= 1) return 0;
  double sum = -infinity;
  for (double k = 0; k <= alpha; ++k) {
    sum = log_add(sum, log_binomial(alpha, k) + k * std::log(q) + (alpha - k) * std::log1p(-q) +
                           k * (k - 1) / (2 * z * z));
  }
  return sum;
}

// log((1 + y)^α − 1 − αy) for y > −1, given log(1 + y): convex in y, so never negative.
double log_convex_part(double alpha, double y, double log1p_y) {
  if (std::abs(alpha * y) < 1e-3) {
    const double series = 1 + (alpha - 2) / 3 * y * (1 + (alpha - 3) / 4 * y);
    return std::log(alpha * (alpha - 1) / 2) + 2 * std::log(std::abs(y)) + std::log(series);
  }
  if (alpha * log1p_y > 30) return alpha * log1p_y;  // from above: 1 + αy > 0
  return std::log(std::max(0.0, std::expm1(alpha * log1p_y) - alpha * y));
}

// The same at any α > 1 as an integral over x ~ N(0, z²): with P/Q = 1 + y and E[y] = 0 the moment is
// 1 + E[(1 + y)^α − 1 − αy], a sum of non-negative terms that stays exact when the moment is close to 1. The
// trapezoid rule errs by about e^{−2π²z²/h} because the integrand is analytic up to distance πz² from the
// real axis.
double log_moment_by_quadrature(double q, double z, double alpha) {
  const double step = std::min(z / 4, z * z / 2);
  const double low = -12 * z;
  const double nodes = std::ceil((alpha + 24 * z) / step);
  if (nodes > 50'000) return infinity;
  double sum = -infinity;
  for (double i = 0; i <= nodes; ++i) {
    const double x = low + i * step;
    const double y = q * std::expm1((2 * x - 1) / (2 * z * z));
    if (y == 0) continue;
    const double log1p_y = y < 1e300 ? std::log1p(y) : std::log(q) + (2 * x - 1) / (2 * z * z);
    sum = log_add(sum, log_convex_part(alpha, y, log1p_y) - x * x / (2 * z * z));
  }
  const double log_excess = sum + std::log(step / z) - 0.5 * std::log(2 * std::numbers::pi);
  return log_add(0, log_excess);
}

// Relative error left to rounding and quadrature, charged upwards.
constexpr double moment_error = 1e-9;
// Rounding error of the integer sum, whose largest term is near 1.
constexpr double log_moment_error = 2e-14;

}  // namespace

double rdp_poisson_gaussian(double rate, double noise_multiplier, double alpha) {
  if (rate >= 1) return alpha / (2 * noise_multiplier * noise_multiplier);
  const double floor = std::floor(alpha);
  if (alpha == floor) {
    return (log_moment_integer(rate, noise_multiplier, alpha) + log_moment_error) / (alpha - 1);
  }
  // α ↦ log E[(P/Q)^α] is convex, so the chord is an upper bound that needs no integral.
  const double part = alpha - floor;
  const double chord = (1 - part) * log_moment_integer(rate, noise_multiplier, floor) +
                       part * log_moment_integer(rate, noise_multiplier, floor + 1);
  const double integral = log_moment_by_quadrature(rate, noise_multiplier, alpha);
  const double log_moment = std::min(integral, chord);
  return log_moment * (1 + moment_error) / (alpha - 1);
}

double rdp_poisson_generic(double rate, const std::function<double(double)>& unsampled, std::uint64_t alpha) {
  if (rate >= 1) return unsampled(static_cast<double>(alpha));
  const double a = static_cast<double>(alpha);
  const double log_q = std::log(rate);
  const double log_rest = std::log1p(-rate);
  double sum = (a - 1) * log_rest + std::log1p(rate * (a - 1));
  sum = log_add(sum, log_binomial(a, 2) + 2 * log_q + (a - 2) * log_rest + unsampled(2));
  for (double j = 3; j <= a; ++j) {
    sum = log_add(sum,
                  std::log(3) + log_binomial(a, j) + j * log_q + (a - j) * log_rest + (j - 1) * unsampled(j));
  }
  return sum / (a - 1);
}

double rdp_without_replacement(double fraction, const std::function<double(double)>& unsampled,
                               double pure_epsilon, std::uint64_t alpha) {
  const double a = static_cast<double>(alpha);
  const double log_q = std::log(fraction);
  // log min{2, (e^{ε(∞)} − 1)^j}
  const auto log_cap = [pure_epsilon](double j) {
    if (!std::isfinite(pure_epsilon)) return std::numbers::ln2;
    return std::min(std::numbers::ln2, j * log_expm1(pure_epsilon));
  };
  const double second = unsampled(2);
  double sum = log_add(
      0, 2 * log_q + log_binomial(a, 2) + std::min(std::log(4) + log_expm1(second), second + log_cap(2)));
  for (double j = 3; j <= a; ++j) {
    sum = log_add(sum, j * log_q + log_binomial(a, j) + log_cap(j) + (j - 1) * unsampled(j));
  }
  return sum / (a - 1);
}

ApproximateDp amplify(ApproximateDp unsampled, double fraction) {
  // log1p(q·expm1(ε)) without overflow for large ε.
  const double epsilon = unsampled.epsilon > 30
                             ? log_add(std::log1p(-fraction), std::log(fraction) + unsampled.epsilon)
                             : std::log1p(fraction * std::expm1(unsampled.epsilon));
  return {epsilon, fraction * unsampled.delta};
}

double participation_rate(const Sampling& sampling) {
  if (const auto* poisson = std::get_if<PoissonSampling>(&sampling)) return poisson->rate;
  if (const auto* fixed = std::get_if<SamplingWithoutReplacement>(&sampling)) {
    return static_cast<double>(fixed->cohort) / static_cast<double>(fixed->population);
  }
  return 1;
}

double rdp_of_one_use(const PrivacyEvent& event, double alpha) {
  const double whole = rdp_unsampled(event.mechanism, alpha);
  const double rate = participation_rate(event.sampling);
  if (rate >= 1) return whole;
  const auto* gaussian = std::get_if<GaussianNoise>(&event.mechanism);
  const bool poisson = std::holds_alternative<PoissonSampling>(event.sampling);
  // Sampling never hurts: Rényi divergence is jointly quasi-convex.
  if (gaussian && poisson)
    return std::min(whole, rdp_poisson_gaussian(rate, gaussian->noise_multiplier, alpha));

  double best = whole;
  const double pure_epsilon = rdp_at_infinity(event.mechanism);
  if (std::isfinite(pure_epsilon)) {
    const double amplified = amplify({pure_epsilon, 0}, rate).epsilon;
    best = std::min(best, rdp_unsampled(ApproximateDp{amplified, 0}, alpha));
  }
  if (alpha == std::floor(alpha)) {
    const auto unsampled = [&event](double order) { return rdp_unsampled(event.mechanism, order); };
    const auto order = static_cast<std::uint64_t>(alpha);
    best = std::min(best, poisson ? rdp_poisson_generic(rate, unsampled, order)
                                  : rdp_without_replacement(rate, unsampled, pure_epsilon, order));
  }
  return best;
}

bool covers_fractional_orders(const PrivacyEvent& event) {
  if (!covers_fractional_orders(event.mechanism)) return false;
  if (participation_rate(event.sampling) >= 1) return true;
  return std::holds_alternative<GaussianNoise>(event.mechanism) &&
         std::holds_alternative<PoissonSampling>(event.sampling);
}

}  // namespace sotto::privacy
