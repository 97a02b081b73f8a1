#include <algorithm>
#include <cmath>
#include <optional>

#include "privacy/accounting/log_math.h"
#include "privacy/accounting/loss_composition.h"

namespace sotto::privacy {
namespace {

// Largest tilt at which untilting keeps ten digits, and which does not magnify the noise between neighbouring
// lattice points (matters for bounded losses, where the best tilt can be infinite).
double tilt_limit(std::span<const LossPower> losses) {
  double largest = 0;
  for (const auto& [loss, count] : losses) {
    const double edge = std::max(std::abs(loss->loss(0)), std::abs(loss->loss(loss->mass.size() - 1)));
    largest += static_cast<double>(count) * edge;
  }
  return std::min(1e6 / std::max(largest, 1e-6), 8 / losses.front().loss->step);
}

// Safeguarded Newton iteration for an increasing function of the tilt. Nothing where it begins too far up.
template <class ValueAndSlope>
std::optional<double> solve_for_tilt(double start, double limit, const ValueAndSlope& value_and_slope) {
  double low = 0;
  double high = limit;
  double tilt = std::clamp(start, 1e-9, limit);
  for (int i = 0; i < 60; ++i) {
    const auto [value, slope] = value_and_slope(tilt);
    (value < 0 ? low : high) = tilt;
    // A bounded loss may have no solution: stop once the tilted law sits on its highest atom.
    if (value < 0 && slope * tilt < 1e-2) return i > 0 ? std::optional(tilt) : std::nullopt;
    double next = slope > 0 ? tilt - value / slope : infinity;
    next = std::clamp(next, tilt / 8, tilt * 8);
    if (!(next > low && next < high)) next = high < limit || next < high ? (low + high) / 2 : limit;
    if (std::abs(next - tilt) < 1e-3 * tilt) return next;
    tilt = next;
  }
  return tilt;
}

}  // namespace

Cumulants cumulants(const LossLattice& loss, double tilt) {
  // Shift by the largest exponent, to the nearest power of two, so that nothing overflows.
  double shift = -infinity;
  for (std::size_t i = 0; i < loss.mass.size(); ++i) {
    if (loss.mass[i] <= 0) continue;
    shift = std::max(shift, tilt * loss.loss(i) + std::numbers::ln2 * std::ilogb(loss.mass[i]));
  }
  double total = 0;
  double first = 0;
  double second = 0;
  const double centre = loss.loss(loss.mass.size() / 2);
  for (std::size_t i = 0; i < loss.mass.size(); ++i) {
    if (loss.mass[i] <= 0) continue;
    const double weight = loss.mass[i] * std::exp(tilt * loss.loss(i) - shift);
    const double x = loss.loss(i) - centre;
    total += weight;
    first += weight * x;
    second += weight * x * x;
  }
  if (total <= 0) return {-infinity, 0, 0};
  const double mean = first / total;
  return {shift + std::log(total), centre + mean, std::max(0.0, second / total - mean * mean)};
}

Cumulants cumulants(std::span<const LossPower> losses, double tilt) {
  Cumulants sum;
  for (const auto& [loss, count] : losses) {
    const Cumulants one = cumulants(*loss, tilt);
    const double times = static_cast<double>(count);
    sum.value += times * one.value;
    sum.mean += times * one.mean;
    sum.variance += times * one.variance;
  }
  return sum;
}

double tilt_for_delta(std::span<const LossPower> losses, double delta, double start) {
  // A tilt that is best for x·δ leaves the noise at x times its own size relative to δ, which is nothing
  // while there is little noise (some 1e-13 for every use), and keeps heavy tails light, hence the window
  // small.
  double uses = 0;
  for (const auto& power : losses) uses += static_cast<double>(power.count);
  const double target = -std::log(std::clamp(1e8 / uses, 1e4, 1e6) * delta);
  if (target <= 0) return 0;
  const double limit = tilt_limit(losses);
  // (K(λ) + log 1/δ)/λ is smallest where λK' − K = log 1/δ.
  const auto solve = [&](double from) {
    return solve_for_tilt(from, limit, [&](double tilt) {
      const Cumulants at = cumulants(losses, tilt);
      return std::pair(tilt * at.mean - at.value - target, tilt * at.variance);
    });
  };
  if (start > 0) {
    if (const auto found = solve(start)) return *found;
  }
  const double of_a_gaussian = std::sqrt(2 * target / std::max(cumulants(losses, 0).variance, 1e-300));
  return solve(of_a_gaussian).value_or(std::min(of_a_gaussian, limit));
}

}  // namespace sotto::privacy
