#include "privacy/noise/lattice_law.h"

#include <algorithm>
#include <cmath>

namespace sotto::privacy {

Result<double> round_parameter_up(double value, double smallest, double largest, const char* what) {
  if (!std::isfinite(value) || value < smallest || value > largest) {
    return bad_input("{} is {}, must be between {} and {}: choose a {} grid or another noise", what, value,
                     smallest, largest, value > largest ? "coarser" : "finer");
  }
  return std::ceil(value * parameter_denominator) / parameter_denominator;
}

namespace {

std::int64_t gaussian_reach(double variance) {
  return static_cast<std::int64_t>(std::ceil(reach_in_sigmas * std::sqrt(variance))) + 1;
}

template <class Real>
Real gaussian_weight(double variance, std::int64_t x) {
  const auto value = static_cast<double>(x);  // |x| < 2^26: its square is exact
  return exp_minus(Real(value * value) / Real(2 * variance));
}

// ∫ exp(-x·y/v - y²/(2v)) dy over y in [-1/2, 1/2]: what rounding to cell x adds to the Gaussian density at
// x. Both exponentials as power series; with v >= 2^20 and |x| <= 13.5 sqrt(v) the first omitted terms are
// below 2^-110 (2^-45 in double).
template <class Real>
Real cell_factor(double variance, std::int64_t x) {
  constexpr int slope_terms = sizeof(Real) == sizeof(double) ? 6 : 14;
  constexpr int curve_terms = sizeof(Real) == sizeof(double) ? 1 : 5;
  const Real slope = Real(static_cast<double>(x)) / Real(variance);
  const Real slope_squared = slope * slope;
  Real sum = 0.0;
  Real slope_term = 1.0;  // slope^j / j!
  for (int j = 0; j <= slope_terms; j += 2) {
    if (j > 0) slope_term = slope_term * slope_squared / Real(static_cast<double>(j * (j - 1)));
    Real curve_term = 1.0;  // (-1/(2v))^k / k!
    for (int k = 0; k <= curve_terms; ++k) {
      if (k > 0) curve_term = curve_term * Real(-0.5) / (Real(variance) * Real(static_cast<double>(k)));
      const int power = j + 2 * k;
      sum = sum + slope_term * curve_term / Real(std::ldexp(power + 1.0, power));
    }
  }
  return sum;
}

}  // namespace

DiscreteGaussianLaw::DiscreteGaussianLaw(double variance) : variance_(variance) {}
double DiscreteGaussianLaw::weight(std::int64_t x) const { return gaussian_weight<double>(variance_, x); }
DoubleDouble DiscreteGaussianLaw::precise_weight(std::int64_t x) const {
  return gaussian_weight<DoubleDouble>(variance_, x);
}
std::int64_t DiscreteGaussianLaw::reach() const { return gaussian_reach(variance_); }

RoundedGaussianLaw::RoundedGaussianLaw(double variance)
    : variance_(variance), mass_of_zero_cell_(cell_factor<DoubleDouble>(variance, 0)) {}
double RoundedGaussianLaw::weight(std::int64_t x) const {
  return gaussian_weight<double>(variance_, x) * cell_factor<double>(variance_, x) / mass_of_zero_cell_.hi;
}
DoubleDouble RoundedGaussianLaw::precise_weight(std::int64_t x) const {
  return gaussian_weight<DoubleDouble>(variance_, x) * cell_factor<DoubleDouble>(variance_, x) /
         mass_of_zero_cell_;
}
std::int64_t RoundedGaussianLaw::reach() const { return gaussian_reach(variance_); }

DiscreteLaplaceLaw::DiscreteLaplaceLaw(double scale) : scale_(scale) {}
double DiscreteLaplaceLaw::weight(std::int64_t x) const {
  return std::exp(-static_cast<double>(std::abs(x)) / scale_);
}
DoubleDouble DiscreteLaplaceLaw::precise_weight(std::int64_t x) const {
  return exp_minus(DoubleDouble(static_cast<double>(std::abs(x))) / DoubleDouble(scale_));
}
// Far enough that the slower way beyond is rare (e^-12), near enough that bins stay narrow.
std::int64_t DiscreteLaplaceLaw::reach() const {
  return static_cast<std::int64_t>(std::ceil(12 * scale_)) + 1;
}

namespace {

// Debye's polynomials u_k(t)/ν^k of the expansion of I_ν (DLMF 10.41), written with R = sqrt(ν² + μ²) and
// p = ν²/R²: u_k(t)/ν^k = v_k(p)/R^k. The remainder after k = 4 is below 2·|u_5|/R^5 < 2^-100 for R >= 2^20
// (Olver).
template <class Real>
Real debye_series(Real p, Real inverse_r) {
  const Real v1 = (Real(3.0) - Real(5.0) * p) / Real(24.0);
  const Real v2 = (Real(81.0) + p * (Real(-462.0) + p * Real(385.0))) / Real(1152.0);
  const Real v3 =
      (Real(30375.0) + p * (Real(-369603.0) + p * (Real(765765.0) - p * Real(425425.0)))) / Real(414720.0);
  const Real v4 =
      (Real(4465125.0) +
       p * (Real(-94121676.0) + p * (Real(349922430.0) + p * (Real(-446185740.0) + p * Real(185910725.0))))) /
      Real(39813120.0);
  return Real(1.0) + inverse_r * (v1 + inverse_r * (v2 + inverse_r * (v3 + inverse_r * v4)));
}

double root(double value) { return std::sqrt(value); }
DoubleDouble root(DoubleDouble value) { return sqrt(value); }

// I_x(μ)/I_0(μ). With s = x/μ the exponent R - μ - x·asinh(s) is -μ Σ (-1)^n C(2n,n)/(4^n (2n+1)(2n+2))
// s^(2n+2); s² < 2^-12 within reach, so twelve terms leave less than 2^-140.
template <class Real>
Real expansion(double variance, std::int64_t x) {
  const Real mu = variance;
  const auto value = static_cast<double>(x);
  const Real square = value * value;  // exact: |x| < 2^26
  const Real z = square / mu / mu;    // s²
  Real series = 0.0;
  Real term = 1.0;  // C(2n,n)/4^n · (-z)^n
  for (int n = 0; n < 12; ++n) {
    if (n > 0) term = -(term * z * Real(2.0 * n - 1)) / Real(2.0 * n);
    series = series + term / Real((2.0 * n + 1) * (2.0 * n + 2));
  }
  const Real ratio = root(Real(1.0) + z);  // R/μ
  const Real p = z / (Real(1.0) + z);
  const Real inverse_mu = Real(1.0) / mu;
  return exp_minus(square / mu * series) / root(ratio) * debye_series<Real>(p, inverse_mu / ratio) /
         debye_series<Real>(Real(0.0), inverse_mu);
}

// 2^-130: below, a point carries nothing that could be noticed.
constexpr double negligible_mass = 0x1.0p-130;

}  // namespace

// I_{j-1} = I_{j+1} + (2j/μ) I_j, run downwards from far outside (Miller): all terms are positive, so the
// relative error grows by at most 2^-102 per step and stays below 2^-87. From variance 1/1024 on the whole
// run grows by less than 2^1200, so it neither overflows nor underflows.
std::vector<DoubleDouble> skellam_weights_by_recurrence(double variance) {
  const auto steps = static_cast<std::size_t>(std::ceil(17 * std::sqrt(variance))) + 80;
  std::vector<DoubleDouble> weights(steps + 1);
  DoubleDouble above = 0.0;
  DoubleDouble here = 0x1.0p-900;
  for (std::size_t j = steps; j > 0; --j) {
    weights[j] = here;
    const DoubleDouble below =
        above + DoubleDouble(2.0 * static_cast<double>(j)) / DoubleDouble(variance) * here;
    above = here;
    here = below;
  }
  weights[0] = here;
  for (DoubleDouble& weight : weights) weight = weight / here;
  while (weights.size() > 2 && weights[weights.size() - 2].hi < negligible_mass) weights.pop_back();
  return weights;
}

SkellamLaw::SkellamLaw(double variance) : variance_(variance) {
  if (variance < expansion_from) {
    table_ = skellam_weights_by_recurrence(variance);
    reach_ = static_cast<std::int64_t>(table_.size());
  } else {
    reach_ = static_cast<std::int64_t>(std::ceil(reach_in_sigmas * std::sqrt(variance))) + 1;
  }
}

double SkellamLaw::weight(std::int64_t x) const {
  if (table_.empty()) return expansion<double>(variance_, x);
  const auto at = static_cast<std::size_t>(std::abs(x));
  return at < table_.size() ? table_[at].hi : 0.0;
}

DoubleDouble SkellamLaw::precise_weight(std::int64_t x) const {
  if (table_.empty()) return expansion<DoubleDouble>(variance_, x);
  const auto at = static_cast<std::size_t>(std::abs(x));
  return at < table_.size() ? table_[at] : DoubleDouble(0.0);
}

}  // namespace sotto::privacy
