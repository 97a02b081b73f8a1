#pragma once
// Rényi differential privacy of one unsampled use of a mechanism: RDP(α) ≥ D_α between neighbours, both ways.
// Infinity means "no bound at this order" (the Skellam theorem covers integer orders only).

#include "privacy/accounting/event.h"

namespace sotto {

// Any α > 1. The mechanism must have passed validate(). The δ of ApproximateDp is charged by the accountant.
double rdp_unsampled(const Mechanism& mechanism, double alpha);

// Pure ε of one use (the limit α → ∞); infinity when there is none.
double rdp_at_infinity(const Mechanism& mechanism);

// Orders with a theorem: only integers for Skellam.
bool covers_fractional_orders(const Mechanism& mechanism);

// τ = 10 Σ_{k<n} exp(−2π²σ²k/(k+1)): how far a sum of n discrete Gaussians is from being one
// (Kairouz, Liu, Steinke 2021, Theorem 1).
double discrete_gaussian_sum_slack(double sigma, std::uint64_t summands);

}  // namespace sotto
