#pragma once
// A real vector of known L2 sensitivity, released with Gaussian noise on a grid.
//
// The vector is rounded to a grid about a millionth of σ wide and gets round(N(0, σ²)) per coordinate, which
// is post-processing of the continuous Gaussian mechanism on the rounded vector. Rounding adds up to step·√d
// to the sensitivity; σ is calibrated to the sum. The caller vouches for the sensitivity (clip first).
//
// Immutable after creation, copyable, safe to share between threads; a DeviceRandom belongs to one thread.

#include <cstdint>
#include <span>

#include "privacy/accounting/event.h"
#include "privacy/noise/device_random.h"
#include "privacy/noise/grid_noise.h"

namespace sotto {

class GaussianMechanism {
 public:
  struct Settings {
    double noise_multiplier = 0;  // σ over the L2 sensitivity
    double l2_sensitivity = 0;    // under `adjacency`, before rounding
    std::uint64_t dimension = 1;
    Adjacency adjacency = Adjacency::replace_one;
    Unit unit = Unit::user;
  };
  static Result<GaussianMechanism> create(const Settings& settings);

  Result<GridVector> release(std::span<const double> values, DeviceRandom random) const;
  PrivacyEvent event() const;
  double sigma() const { return noise_.sigma() * step_; }
  double step() const { return step_; }

 private:
  GaussianMechanism(const Settings& settings, double step, RoundedGaussian noise)
      : settings_(settings), step_(step), noise_(std::move(noise)) {}
  Settings settings_;
  double step_;
  RoundedGaussian noise_;
};

}  // namespace sotto
