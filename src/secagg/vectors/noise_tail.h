#pragma once
// How far the noise of a secure sum strays: upper bounds on its tails, for headroom and thresholds.
//
// Both laws have finite exponential moments, so P(X >= h) <= exp(min over t of log E[e^{tX}] − t·h). A
// discrete Gaussian is sub-Gaussian with its parameter σ² (Canonne, Kamath, Steinke 2020), and so are sums:
// −h²/(2V). A Skellam law of variance V has log E[e^{tX}] = V·(cosh t − 1): V·(√(1 + (h/V)²) − 1) −
// h·asinh(h/V). The samplers' own distance from their laws (2^-80 per draw) is not part of the bounds.
//
// Plain values and pure functions.

#include <cstdint>

#include "privacy/mechanisms/noise_share.h"

namespace sotto {

struct NoiseSum {
  ShareKind kind = ShareKind::skellam;
  double variance = 0;  // of one coordinate; for discrete Gaussians the sum of their σ²
};

// The noise in a sum to which `devices` shares were added.
NoiseSum noise_of(const NoiseShare& share, std::uint64_t devices);

// At least log P(X >= height), for height >= 0.
double log_tail_bound(const NoiseSum& noise, double height);

// The smallest whole number h >= 0 with log_tail_bound(noise, h) <= log_probability, which is below 0.
std::int64_t height_with_tail(const NoiseSum& noise, double log_probability);

}  // namespace sotto
