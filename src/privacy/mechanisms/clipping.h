#pragma once
// Bounds on what one person can contribute. After each function the stated norm, taken in real numbers, is at
// most `bound`: results are shrunk by the rounding error of the norm's own computation. Each returns the norm
// before clipping and refuses vectors with NaN or infinity, which no scaling brings back.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "privacy/accounting/event.h"
#include "privacy/noise/device_random.h"
#include "privacy/noise/grid_noise.h"

namespace sotto::privacy {

Result<double> clip_l2(std::span<double> values, double bound);
// The two halves of clip_l2(), for whoever clips while doing something else: the norm, summed in an order
// that depends on the length alone, and what a vector of that norm is multiplied by (1: it is short enough).
Result<double> l2_norm(std::span<const double> values);
Result<double> l2_norm(std::span<const float> values);
double clip_factor(double norm, double bound, std::size_t entries);
// A vector of so many entries whose computed norm is at most this is within the bound in real numbers.
double safe_norm(double bound, std::size_t entries);
Result<double> clip_l1(std::span<double> values, double bound);
// Every coordinate into [-bound, bound]; returns the largest magnitude.
Result<double> clip_coordinates(std::span<double> values, double bound);

// User-level mean with Gaussian noise: every user's vector is clipped to L2 norm S, rounded to a grid and
// summed; noise is added to the sum once; the sum is divided by a fixed public number, never by the number of
// users who came.
//
// Sensitivity of the integer sum: S + step·√d/2 for one user more or fewer, twice that for one user replaced
// (rounding moves a vector by at most step·√d/2). Noise is calibrated to it.
//
// Immutable after creation, safe to share between threads. Contributions may be added in any order: integers.
class ClippedMean {
 public:
  struct Settings {
    double clip = 0;              // S
    double noise_multiplier = 0;  // σ over the sensitivity under `adjacency`
    std::uint64_t dimension = 1;
    double denominator = 0;  // fixed and public: the expected, not the actual, number of users
    Adjacency adjacency = Adjacency::add_remove;
  };
  static Result<ClippedMean> create(const Settings& settings);

  Result<GridVector> contribution(std::span<const double> update) const;
  // Adds one contribution; refuses what cannot come from contribution().
  Status accumulate(GridVector& sum, const GridVector& contribution) const;
  GridVector empty_sum() const;
  // The noisy sum. One release per sum: noise is drawn anew on every call.
  Result<GridVector> release(const GridVector& sum, DeviceRandom random) const;
  std::vector<double> mean(const GridVector& released) const;

  PrivacyEvent event() const;
  double sigma_of_mean() const { return noise_.sigma() * step_ / settings_.denominator; }

 private:
  ClippedMean(const Settings& settings, double step, RoundedGaussian noise)
      : settings_(settings), step_(step), noise_(std::move(noise)) {}
  Status check_grid(const GridVector& vector) const;
  Settings settings_;
  double step_;
  RoundedGaussian noise_;
};

}  // namespace sotto::privacy
