#pragma once
// The cumulant generating function of a sum of privacy losses, for choosing the tilt and bounding tails.

#include <span>

#include "privacy/accounting/loss_composition.h"

namespace sotto::privacy {

// K(λ) = log Σ mass · e^{λ·loss} with its first two derivatives: mean and variance of the tilted law.
struct Cumulants {
  double value = 0;
  double mean = 0;
  double variance = 0;
};

Cumulants cumulants(const LossLattice& loss, double tilt);
Cumulants cumulants(std::span<const LossPower> losses, double tilt);

}  // namespace sotto::privacy
