#pragma once
// A clipping bound that follows a quantile of the users' update norms (Andrew et al. 2021, as used by
// DP-PrivRec).
//
// Each round the fraction of users whose norm was within the bound is released with noise, and the bound
// moves so that this fraction approaches γ. Both releases of a round, the update (multiplier z_u) and the
// fraction (z_b), are Gaussians of the same users, together one Gaussian release with multiplier (z_u⁻² +
// z_b⁻²)^(−1/2).
//
// Budget split h: z_u = z/√(1−h), z_b = z/√h, so the round has multiplier z exactly. Paper mode reproduces
// DP-PrivRec: its fraction has twice the needed noise (sensitivity taken as 2/M), and its update noise is not
// scaled by the server rate α₃ although the update is, so the true multipliers are z/(α₃√(1−h)) and 2z/√h.
// Adjacency: one user replaced.
//
// Owns the current bound. Not thread-safe: one per run.

#include <cstdint>

#include "privacy/mechanisms/gaussian_mechanism.h"
#include "privacy/mechanisms/guarantee_mode.h"

namespace sotto {

class AdaptiveClip {
 public:
  struct Settings {
    GuaranteeMode mode = GuaranteeMode::sound;
    double initial_bound = 0;     // S
    double smallest_bound = 0;    // floor
    double quantile = 0;          // γ
    double rate = 0;              // α₄
    double budget_share = 0;      // h
    double noise_multiplier = 0;  // z
    std::uint64_t cohort = 0;     // M
    double server_rate = 1;       // α₃
  };
  static Result<AdaptiveClip> create(const Settings& settings);

  double bound() const { return bound_; }
  // Standard deviation to put on the mean of M clipped updates, as it is applied to the model: in sound mode
  // the caller adds it to the mean before multiplying by α₃, in paper mode after.
  double update_sigma() const;
  // `within`: how many of the M users had a norm within the bound before clipping. Returns the released noisy
  // fraction.
  Result<double> step(std::uint64_t within, DeviceRandom random);
  // One round: the update and the fraction together.
  PrivacyEvent round_event() const;

 private:
  AdaptiveClip(const Settings& settings, GaussianMechanism count)
      : settings_(settings), count_(std::move(count)), bound_(settings.initial_bound) {}
  double update_multiplier() const;
  double fraction_multiplier() const;
  Settings settings_;
  GaussianMechanism count_;
  double bound_;
};

}  // namespace sotto
