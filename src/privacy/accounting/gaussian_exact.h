#pragma once
// The Gaussian mechanism in closed form (Balle, Wang 2018, Theorem 8): exact for one use, and for T uses,
// which together are one use with multiplier z/√T. Valid for every ε ≥ 0, unlike the classical σ = √(2
// log(1.25/δ))/ε.

#include "base/result.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto::privacy {

// δ(ε) = Φ(1/(2z) − εz) − e^ε Φ(−1/(2z) − εz)
double gaussian_delta(double noise_multiplier, double epsilon);

// Smallest ε ≥ 0 with gaussian_delta ≤ delta, rounded up by at most 1e-12 relative.
Result<double> gaussian_epsilon(double noise_multiplier, double delta);

// Smallest multiplier with gaussian_delta(·, epsilon) ≤ delta, rounded up by at most 1e-12 relative.
Result<double> gaussian_noise_for(double epsilon, double delta);

// Noise multipliers σ/Δ₂ for one Gaussian release.

// √(2 log(1.25/δ))/ε (Dwork, Roth 2014). Its proof needs ε < 1: sound mode refuses the rest. Paper mode
// computes it anyway, as the papers do; true_gaussian_epsilon then says what holds.
Result<double> classical_noise_multiplier(double epsilon, double delta, GuaranteeMode mode);

// The smallest multiplier that is (ε, δ)-DP, for every ε (Balle, Wang 2018).
Result<double> analytic_noise_multiplier(double epsilon, double delta);

// The smallest ε that this multiplier gives at δ.
Result<double> true_gaussian_epsilon(double noise_multiplier, double delta);

}  // namespace sotto::privacy
