#pragma once
// Noise multipliers σ/Δ₂ for one Gaussian release.

#include "base/result.h"
#include "privacy/mechanisms/guarantee_mode.h"

namespace sotto {

// √(2 log(1.25/δ))/ε (Dwork, Roth 2014). Its proof needs ε < 1: sound mode refuses the rest. Paper mode
// computes it anyway, as the papers do; true_gaussian_epsilon then says what holds.
Result<double> classical_noise_multiplier(double epsilon, double delta, GuaranteeMode mode);

// The smallest multiplier that is (ε, δ)-DP, for every ε (Balle, Wang 2018).
Result<double> analytic_noise_multiplier(double epsilon, double delta);

// The smallest ε that this multiplier gives at δ.
Result<double> true_gaussian_epsilon(double noise_multiplier, double delta);

}  // namespace sotto
