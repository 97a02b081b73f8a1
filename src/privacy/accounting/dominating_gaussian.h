#pragma once
// Noise on the integer grid, accounted as Gaussian noise. Skellam and discrete Gaussian noise are at least as
// private as Gaussian noise of slightly smaller variance: for every integer shift, in any number of
// coordinates, at every point of the trade-off curve (theorem and proof in docs/privacy/accounting.md). What
// is known of the Gaussian mechanism, the closed form, amplification by sampling, composition of losses, is
// then an upper bound for them.

#include <optional>

#include "privacy/accounting/event.h"

namespace sotto::privacy {

// Gaussian noise that is no more private than the mechanism in any respect; itself where it is Gaussian.
// None: not of this kind, or so little noise that the theorem says nothing.
std::optional<GaussianNoise> dominating_gaussian(const Mechanism& mechanism);

// Variance s² − ¼·s²/(s² − 1) of the Gaussian that stands for one integer coordinate whose log-probabilities
// have second differences of at most 1/s²; nothing for 1/s² above ½.
std::optional<double> gaussian_variance_of_curvature(double curvature);

// Largest second difference of −log P of Skellam noise: −log(1 − 1/μ − 1/(4μ²)), μ ≥ 5/2; nothing below.
std::optional<double> skellam_curvature(double variance);

}  // namespace sotto::privacy
