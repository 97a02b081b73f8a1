#pragma once
// A noise law on the integers, given by unnormalised weights. BinnedSampler draws from any such law.
//
// Contract of every law: weight(0) <= 1, weight(x) = weight(-x) > 0, and weight does not increase on x = 0,
// 1, 2, ... (weight(0) = 1). weight() is correct to a relative 2^-40, precise_weight() to a relative 2^-86,
// for |x| <= reach(). Immutable, safe to share between threads.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "privacy/noise/double_double.h"

namespace sotto {

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
  // The sampler covers |x| < reach(). What lies beyond is less than 2^-120 of the mass, or is reached by
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

// The two ways to the Skellam weight, exposed so that a test can hold them against each other.
std::vector<DoubleDouble> skellam_weights_by_recurrence(double variance);
DoubleDouble skellam_weight_by_expansion(double variance, std::int64_t x);

}  // namespace sotto
