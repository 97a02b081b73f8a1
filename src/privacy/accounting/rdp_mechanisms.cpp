#include "privacy/accounting/rdp_mechanisms.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "privacy/accounting/log_math.h"

namespace sotto {
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
  if (alpha != std::floor(alpha)) return kInfinity;
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
  return kInfinity;
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

}  // namespace sotto
