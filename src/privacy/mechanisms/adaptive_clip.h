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
#include <span>
#include <vector>

#include "base/result.h"
#include "privacy/mechanisms/parameter_checks.h"
#include "privacy/mechanisms/vector_release.h"

namespace sotto::privacy {

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

// The clipping bit as one more coordinate of the update, so that bound and model share a single noisy sum.
//
// A user sends (clipped update, (b − ½)·c) with b = 1 when the norm was within S before clipping. The joint
// L2 norm is at most √(S² + c²/4), which is all that clipping and noise need to know. With noise σ per
// coordinate of the sum of M users, the fraction b is known up to σ/(cM).
//
// Immutable, copyable, safe to share between threads.

class JointClipBit {
 public:
  static Result<JointClipBit> create(double bound, double bit_weight);

  // The last coordinate of a user whose update had this norm before clipping.
  double coordinate(double norm) const { return (norm <= bound_ ? 0.5 : -0.5) * bit_weight_; }
  // The clipped update with the bit behind it.
  Result<std::vector<double>> extend(std::span<const double> update) const;
  // The share of users within the bound, from the last coordinate of the (noisy) sum over `users` users.
  double fraction(double bit_sum, double users) const { return bit_sum / (bit_weight_ * users) + 0.5; }

 private:
  JointClipBit(double bound, double bit_weight) : bound_(bound), bit_weight_(bit_weight) {}
  double bound_;
  double bit_weight_;
};

}  // namespace sotto::privacy
