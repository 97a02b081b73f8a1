#pragma once
// Adaptive composition of privacy losses: the losses add, so their laws convolve; T-fold convolution is a
// T-th power after a Fourier transform.
//
// The laws are first tilted by e^{λ·loss} (an Esscher transform), with λ chosen so that the tilted sum is
// centred on the ε in question. What the double-precision transform gets wrong is then small against δ
// itself, not against 1, so that δ = 1e-12 is as well resolved as δ = 1e-2. Charged to the safe side in every
// answer:
//   - rounding of the transforms (4e-15 per radix stage and coefficient; the inverse: the same relative to
//   its
//     Euclidean norm, Higham 2002, Theorem 24.2) and of the powers;
//   - rounding of tilting and untilting;
//   - mass outside of the window, which wraps around (Chernoff bound);
//   - mass of infinite loss.
// Pure functions: safe to call from several threads.

#include <span>

#include "privacy/accounting/loss_lattice.h"

namespace sotto::privacy {

// `count` independent copies of one law. The lattice must outlive the call.
struct LossPower {
  const LossLattice* loss = nullptr;
  std::uint64_t count = 1;
};

// λ near the one that minimises the Chernoff bound at the target. Found sooner from a start that is near it;
// 0: none is known.
double tilt_for_delta(std::span<const LossPower> losses, double delta, double start = 0);

// ε at δ of the composition: an upper bound for pessimistic laws, a lower bound for optimistic
// ones. All laws must share one step. Any tilt gives a valid answer; the one above a tight one.
Result<double> composed_epsilon(std::span<const LossPower> losses, double delta, double tilt,
                                Rounding rounding);

// The law of a sum of `uses` copies, tilted by `tilt`, on every `coarser`-th point of the lattice,
// pessimistic again: the sum of many such blocks has a far coarser lattice than its parts need. For
// composed_epsilon at the same tilt only. Fails where a mass is no number.
Result<LossLattice> composed_block(const LossPower& uses, double tilt, std::int64_t coarser);

// The cumulant generating function of a sum of privacy losses, for choosing the tilt and bounding tails.

// K(λ) = log Σ mass · e^{λ·loss} with its first two derivatives: mean and variance of the tilted law.
struct Cumulants {
  double value = 0;
  double mean = 0;
  double variance = 0;
};

Cumulants cumulants(const LossLattice& loss, double tilt);
Cumulants cumulants(std::span<const LossPower> losses, double tilt);

}  // namespace sotto::privacy
