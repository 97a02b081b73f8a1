#pragma once
// One of the two vector mechanisms behind a single door, for releases that the papers describe with either
// noise.

#include <cstdint>
#include <span>
#include <variant>

#include "privacy/accounting/event.h"
#include "privacy/mechanisms/parameter_checks.h"
#include "privacy/noise/device_random.h"
#include "privacy/noise/grid_noise.h"

namespace sotto::privacy {

// The two noises the papers offer for a released vector.
enum class NoiseKind {
  laplace,   // pure ε, δ = 0
  gaussian,  // (ε, δ)
};

// A real vector of known L2 sensitivity, released with Gaussian noise on a grid.
//
// The vector is rounded to a grid about a millionth of σ wide and gets round(N(0, σ²)) per coordinate, which
// is post-processing of the continuous Gaussian mechanism on the rounded vector. Rounding adds up to step·√d
// to the sensitivity; σ is calibrated to the sum. The caller vouches for the sensitivity (clip first).
//
// Immutable after creation, copyable, safe to share between threads; a DeviceRandom belongs to one thread.
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

// A real vector of known L1 sensitivity, released with discrete Laplace noise on a grid.
//
// The vector is rounded to a grid about a millionth of the noise wide; rounding adds up to step·d to the L1
// sensitivity Δ₁ and the noise scale is (Δ₁ + step·d)/ε. Likelihoods of neighbours differ by at most
// exp(‖z−z'‖₁/scale) ≤ e^ε: pure ε-DP. The caller vouches for the sensitivity (clip first).
//
// Immutable after creation, copyable, safe to share between threads; a DeviceRandom belongs to one thread.
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

// FedNewsRec's upload: every coordinate clipped to [-δ, δ], then Laplace(λ) on every coordinate.
//
// The paper prints ε = 2δ/λ. That is the loss of one coordinate: neighbours may differ in all d of them, so
// one upload has L1 sensitivity 2dδ and true ε = 2dδ/λ (pure, tight: attained when every coordinate flips).
// Nothing here repairs it; the sound path of training is a clipped sum under secure aggregation.
//
// Immutable after creation, safe to share between threads.
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

using VectorRelease = std::variant<LaplaceMechanism, GaussianMechanism>;

inline Result<GridVector> release(const VectorRelease& mechanism, std::span<const double> values,
                                  DeviceRandom random) {
  return std::visit([&](const auto& m) { return m.release(values, random); }, mechanism);
}

inline PrivacyEvent event(const VectorRelease& mechanism) {
  return std::visit([](const auto& m) { return m.event(); }, mechanism);
}

}  // namespace sotto::privacy
