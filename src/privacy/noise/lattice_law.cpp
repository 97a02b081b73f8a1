#include "privacy/noise/lattice_law.h"

#include <cmath>

namespace sotto {

Result<double> round_parameter_up(double value, double smallest, double largest, const char* what) {
  if (!std::isfinite(value) || value < smallest || value > largest) {
    return bad_input("{} is {}, must be between {} and {}: choose a {} grid or another noise", what, value,
                     smallest, largest, value > largest ? "coarser" : "finer");
  }
  return std::ceil(value * kParameterDenominator) / kParameterDenominator;
}

namespace {

std::int64_t gaussian_reach(double variance) {
  return static_cast<std::int64_t>(std::ceil(kGaussianReach * std::sqrt(variance))) + 1;
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
  constexpr int kSlopeTerms = sizeof(Real) == sizeof(double) ? 6 : 14;
  constexpr int kCurveTerms = sizeof(Real) == sizeof(double) ? 1 : 5;
  const Real slope = Real(static_cast<double>(x)) / Real(variance);
  const Real slope_squared = slope * slope;
  Real sum = 0.0;
  Real slope_term = 1.0;  // slope^j / j!
  for (int j = 0; j <= kSlopeTerms; j += 2) {
    if (j > 0) slope_term = slope_term * slope_squared / Real(static_cast<double>(j * (j - 1)));
    Real curve_term = 1.0;  // (-1/(2v))^k / k!
    for (int k = 0; k <= kCurveTerms; ++k) {
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

}  // namespace sotto
