#pragma once
// The Gaussian mechanism in closed form (Balle, Wang 2018, Theorem 8): exact for one use, and for T uses,
// which together are one use with multiplier z/√T. Valid for every ε ≥ 0, unlike the classical σ = √(2
// log(1.25/δ))/ε.

#include "base/result.h"

namespace sotto {

// δ(ε) = Φ(1/(2z) − εz) − e^ε Φ(−1/(2z) − εz)
double gaussian_delta(double noise_multiplier, double epsilon);

// Smallest ε ≥ 0 with gaussian_delta ≤ delta, rounded up by at most 1e-12 relative.
Result<double> gaussian_epsilon(double noise_multiplier, double delta);

// Smallest multiplier with gaussian_delta(·, epsilon) ≤ delta, rounded up by at most 1e-12 relative.
Result<double> gaussian_noise_for(double epsilon, double delta);

}  // namespace sotto
