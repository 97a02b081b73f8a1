#pragma once
// Noise on the integer grid: the only noise that may leave a device. Each class checks its parameter, rounds
// it up to a multiple of 1/1024 (never less noise than asked for) and draws in bulk through one shared
// sampling table.
//
// Contract of all classes: immutable, cheap to copy (the table is shared), safe to share between threads;
// memory does not grow with the number of samples; total_variation and log_ratio bound the distance of one
// sample from the stated law (proof in binned_sampler.h) and belong into the event of every mechanism, times
// the number of coordinates.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "privacy/noise/binned_sampler.h"

namespace sotto::privacy {

class GridNoise {
 public:
  static constexpr double total_variation = BinnedSampler::total_variation;
  static constexpr double log_ratio = BinnedSampler::log_ratio;

  void fill(std::span<std::int32_t> out, RandomSource& random) const { sampler_->fill(out, random); }
  void fill(std::span<std::int64_t> out, RandomSource& random) const { sampler_->fill(out, random); }
  std::int64_t sample(RandomSource& random) const;
  double variance() const { return variance_; }  // of one sample

 protected:
  GridNoise(std::shared_ptr<const LatticeLaw> law, double variance);

 private:
  std::shared_ptr<const BinnedSampler> sampler_;
  double variance_;
};

// P(x) ∝ exp(-x²/(2σ²)). σ² is the parameter of the law; the variance is slightly smaller for σ below 1.
class DiscreteGaussian : public GridNoise {
 public:
  static Result<DiscreteGaussian> create(double sigma);
  double sigma() const { return sigma_; }

 private:
  explicit DiscreteGaussian(double sigma_squared);
  double sigma_;
};

// round(N(0, σ²)): z + round(N) = round(z + N) for an integer z, so a mechanism with this noise is
// post-processing of the continuous Gaussian mechanism and is accounted as that. σ >= 1024 grid steps.
class RoundedGaussian : public GridNoise {
 public:
  static Result<RoundedGaussian> create(double sigma);
  double sigma() const { return sigma_; }

 private:
  explicit RoundedGaussian(double sigma_squared);
  double sigma_;
};

// P(x) ∝ exp(-|x|/scale).
class DiscreteLaplace : public GridNoise {
 public:
  static Result<DiscreteLaplace> create(double scale);
  double scale() const { return scale_; }

 private:
  explicit DiscreteLaplace(double scale);
  double scale_;
};

// Difference of two Poisson(variance/2). Closed under sums: shares of many devices add up to the same family.
class Skellam : public GridNoise {
 public:
  static Result<Skellam> create(double variance);

 private:
  explicit Skellam(double variance) : GridNoise(std::make_shared<SkellamLaw>(variance), variance) {}
};

// A vector on a grid: whole numbers of one step, a power of two. The low bits of a floating-point sum tell
// more than its value (Mironov 2012); a grid vector has none. Mechanisms round their input to the grid, add
// integer noise, and charge the rounding in the sensitivity they calibrate to.

struct GridVector {
  double step = 1;
  std::vector<std::int64_t> steps;

  // Exact while |steps| < 2^53: the step is a power of two.
  std::vector<double> reals() const;
};

// The power of two for which noise of this scale has between 2^19 and 2^20 steps.
double grid_step_for(double noise_scale);

// Nearest grid points. Refuses values that are not finite or whose distance from zero is 2^52 steps or more.
Result<GridVector> snap(std::span<const double> values, double step);

// How much further apart two snapped vectors can be than the vectors themselves: half a step at each end of
// each coordinate.
double snapping_l1_charge(double step, std::uint64_t dimension);
double snapping_l2_charge(double step, std::uint64_t dimension);

void add_noise(GridVector& vector, const GridNoise& noise, RandomSource& random);

}  // namespace sotto::privacy
