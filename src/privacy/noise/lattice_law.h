#pragma once
// A noise law on the integers, given by unnormalised weights. BinnedSampler draws from any such law.
//
// Contract of every law: weight(0) <= 1, weight(x) = weight(-x) > 0, and weight does not increase on x = 0,
// 1, 2, ... (weight(0) = 1). weight() is correct to a relative 2^-40, precise_weight() to a relative 2^-86,
// for |x| <= reach(). Immutable, safe to share between threads.

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace sotto::privacy {

// Twice the precision of double: an unevaluated sum hi + lo, about 106 bits. Sampling tables and their rare
// undecided draws are computed with it, so that the distance to the exact law is far below anything a
// guarantee could notice. Every operation below is correct to a relative 2^-102 (Joldes, Muller, Popescu
// 2017); exp_minus to 2^-97 for arguments up to 256. Relies on IEEE arithmetic: never compile with
// -ffast-math.
struct DoubleDouble {
  double hi = 0, lo = 0;
  constexpr DoubleDouble() = default;
  constexpr DoubleDouble(double value)
      : hi(value) {}  // NOLINT(google-explicit-constructor): a number is a number
  constexpr DoubleDouble(double high, double low) : hi(high), lo(low) {}
  explicit operator double() const { return hi; }
};

namespace dd {

inline DoubleDouble fast_two_sum(double a, double b) {  // |a| >= |b|
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

inline DoubleDouble two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

}  // namespace dd

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  DoubleDouble high = dd::two_sum(a.hi, b.hi);
  const DoubleDouble low = dd::two_sum(a.lo, b.lo);
  high = dd::fast_two_sum(high.hi, high.lo + low.hi);
  return dd::fast_two_sum(high.hi, high.lo + low.lo);
}

inline DoubleDouble operator-(DoubleDouble a) { return {-a.hi, -a.lo}; }
inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + (-b); }

inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble product = dd::two_product(a.hi, b.hi);
  return dd::fast_two_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double first = a.hi / b.hi;
  const DoubleDouble rest = a - b * DoubleDouble(first);
  const double second = rest.hi / b.hi;
  const DoubleDouble last = rest - b * DoubleDouble(second);
  const DoubleDouble quotient = dd::fast_two_sum(first, second);
  return quotient + DoubleDouble(last.hi / b.hi);
}

inline bool operator<(DoubleDouble a, DoubleDouble b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }

inline DoubleDouble sqrt(DoubleDouble a) {  // a > 0; one Newton step doubles the correct digits
  const double root = std::sqrt(a.hi);
  const DoubleDouble rest = a - dd::two_product(root, root);
  return dd::fast_two_sum(root, rest.hi / (2 * root));
}

// e^-a for 0 <= a <= 256: a = n·log 2 + 16·r, Taylor series for e^-r, four squarings.
inline DoubleDouble exp_minus(DoubleDouble a) {
  constexpr DoubleDouble log2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  constexpr double log2_rest = 0x1.7b57a079a1934p-111;
  constexpr int term_count = 17;
  const double n = std::nearbyint(a.hi * 0x1.71547652b82fep0);
  DoubleDouble r = a - log2 * DoubleDouble(n) - DoubleDouble(n * log2_rest);
  r = {-r.hi / 16, -r.lo / 16};
  DoubleDouble sum = 1.0;
  for (int i = term_count; i >= 1; --i) sum = DoubleDouble(1.0) + sum * r / DoubleDouble(i);
  for (int i = 0; i < 4; ++i) sum = sum * sum;
  const double scale = std::ldexp(1.0, -static_cast<int>(n));
  return {sum.hi * scale, sum.lo * scale};
}

// The same formulas serve double (fast, for almost every decision) and DoubleDouble (for the rest).
inline double exp_minus(double a) { return std::exp(-a); }

// Noise parameters are rational with this denominator, so that the reference samplers can be exact. Rounded
// up: never less noise than asked for.
inline constexpr double parameter_denominator = 1024;
// Beyond this many standard deviations a Gaussian or Skellam law carries less than 2^-130 of its mass.
inline constexpr double reach_in_sigmas = 13.5;
inline constexpr double largest_sigma = 1 << 21;

// `value` rounded up to a multiple of 1/1024 and checked against [smallest, largest]; `what` names it in the
// error.
Result<double> round_parameter_up(double value, double smallest, double largest, const char* what);

class LatticeLaw {
 public:
  LatticeLaw() = default;
  LatticeLaw(const LatticeLaw&) = delete;
  LatticeLaw& operator=(const LatticeLaw&) = delete;
  virtual ~LatticeLaw() = default;

  virtual double weight(std::int64_t x) const = 0;
  virtual DoubleDouble precise_weight(std::int64_t x) const = 0;
  // The sampler covers |x| < reach(). What lies beyond is less than 2^-128 of the mass, or is reached by
  // memorylessness.
  virtual std::int64_t reach() const = 0;
  // True when the law beyond L, seen from L, is the law of the magnitude itself (the geometric law).
  virtual bool memoryless() const { return false; }
};

// P(x) ∝ exp(-x²/(2 variance)).
class DiscreteGaussianLaw final : public LatticeLaw {
 public:
  explicit DiscreteGaussianLaw(double variance);
  double weight(std::int64_t x) const override;
  DoubleDouble precise_weight(std::int64_t x) const override;
  std::int64_t reach() const override;

 private:
  double variance_;
};

// N(0, variance) rounded to the nearest integer. Adding it to an integer is post-processing of the continuous
// Gaussian mechanism, so that mechanism's tight accounting holds as it is. Needs variance >= 2^20: the series
// for the mass of one cell is proved for fine grids only.
class RoundedGaussianLaw final : public LatticeLaw {
 public:
  explicit RoundedGaussianLaw(double variance);
  double weight(std::int64_t x) const override;
  DoubleDouble precise_weight(std::int64_t x) const override;
  std::int64_t reach() const override;

 private:
  double variance_;
  DoubleDouble mass_of_zero_cell_;
};

// P(x) ∝ exp(-|x|/scale).
class DiscreteLaplaceLaw final : public LatticeLaw {
 public:
  explicit DiscreteLaplaceLaw(double scale);
  double weight(std::int64_t x) const override;
  DoubleDouble precise_weight(std::int64_t x) const override;
  std::int64_t reach() const override;
  bool memoryless() const override { return true; }

 private:
  double scale_;
};

// Difference of two Poisson(variance/2): P(x) = e^-variance I_|x|(variance). Debye's expansion with Olver's
// error bound from variance 2^20 on, a table by backward recurrence (at most 15,000 entries) below.
class SkellamLaw final : public LatticeLaw {
 public:
  static constexpr double expansion_from = 1 << 20;
  explicit SkellamLaw(double variance);
  double weight(std::int64_t x) const override;
  DoubleDouble precise_weight(std::int64_t x) const override;
  std::int64_t reach() const override { return reach_; }

 private:
  double variance_;
  std::vector<DoubleDouble> table_;  // empty when the expansion is used
  std::int64_t reach_;
};

// SkellamLaw's table. Valid for any variance, so that a test can hold it against the expansion.
std::vector<DoubleDouble> skellam_weights_by_recurrence(double variance);

}  // namespace sotto::privacy
