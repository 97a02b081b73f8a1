#pragma once
// FedNewsRec's upload: every coordinate clipped to [-δ, δ], then Laplace(λ) on every coordinate.
//
// The paper prints ε = 2δ/λ. That is the loss of one coordinate: neighbours may differ in all d of them, so
// one upload has L1 sensitivity 2dδ and true ε = 2dδ/λ (pure, tight: attained when every coordinate flips).
// Nothing here repairs it; the sound path of training is a clipped sum under secure aggregation.
//
// Immutable after creation, safe to share between threads.

#include <cstdint>
#include <span>

#include "privacy/mechanisms/guarantee_mode.h"
#include "privacy/noise/device_random.h"
#include "privacy/noise/grid_noise.h"

namespace sotto {

class ElementwiseLaplace {
 public:
  struct Settings {
    double clip = 0;   // δ of the paper
    double scale = 0;  // λ of the paper
    std::uint64_t dimension = 1;
  };
  static Result<ElementwiseLaplace> create(const Settings& settings);

  Result<GridVector> release(std::span<const double> gradient, DeviceRandom random) const;
  MechanismStatement statement() const;

 private:
  ElementwiseLaplace(const Settings& settings, double step, double clip_steps, DiscreteLaplace noise)
      : settings_(settings), step_(step), clip_steps_(clip_steps), noise_(std::move(noise)) {}
  Settings settings_;
  double step_;
  double clip_steps_;  // δ rounded down to the grid: rounding costs nothing
  DiscreteLaplace noise_;
};

}  // namespace sotto
