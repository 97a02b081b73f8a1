#pragma once
// A real vector of known L1 sensitivity, released with discrete Laplace noise on a grid.
//
// The vector is rounded to a grid about a millionth of the noise wide; rounding adds up to step·d to the L1
// sensitivity Δ₁ and the noise scale is (Δ₁ + step·d)/ε. Likelihoods of neighbours differ by at most
// exp(‖z−z'‖₁/scale) ≤ e^ε: pure ε-DP. The caller vouches for the sensitivity (clip first).
//
// Immutable after creation, copyable, safe to share between threads; a DeviceRandom belongs to one thread.

#include <cstdint>
#include <span>

#include "privacy/accounting/event.h"
#include "privacy/noise/device_random.h"
#include "privacy/noise/grid_noise.h"

namespace sotto {

class LaplaceMechanism {
 public:
  struct Settings {
    double epsilon = 0;
    double l1_sensitivity = 0;  // under `adjacency`, before rounding
    std::uint64_t dimension = 1;
    Adjacency adjacency = Adjacency::replace_one;
    Unit unit = Unit::user;
  };
  static Result<LaplaceMechanism> create(const Settings& settings);

  Result<GridVector> release(std::span<const double> values, DeviceRandom random) const;
  PrivacyEvent event() const;
  double scale() const { return noise_.scale() * step_; }
  double step() const { return step_; }

 private:
  LaplaceMechanism(const Settings& settings, double step, DiscreteLaplace noise)
      : settings_(settings), step_(step), noise_(std::move(noise)) {}
  Settings settings_;
  double step_;
  DiscreteLaplace noise_;
};

}  // namespace sotto
