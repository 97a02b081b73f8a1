#pragma once
// Rényi differential privacy of one unsampled use of a mechanism: RDP(α) ≥ D_α between neighbours, both ways.
// Infinity means "no bound at this order" (the Skellam theorem covers integer orders only).

#include <functional>

#include "privacy/accounting/event.h"

namespace sotto::privacy {

// Any α > 1. The mechanism must have passed validate(). The δ of ApproximateDp is charged by the accountant.
double rdp_unsampled(const Mechanism& mechanism, double alpha);

// Pure ε of one use (the limit α → ∞); infinity when there is none.
double rdp_at_infinity(const Mechanism& mechanism);

// Orders with a theorem: only integers for Skellam.
bool covers_fractional_orders(const Mechanism& mechanism);

// τ = 10 Σ_{k<n} exp(−2π²σ²k/(k+1)): how far a sum of n discrete Gaussians is from being one
// (Kairouz, Liu, Steinke 2021, Theorem 1).
double discrete_gaussian_sum_slack(double sigma, std::uint64_t summands);

// Rényi differential privacy of one use on a random sample: the amplification theorems, each for the sampling
// and the adjacency it is proved for (validate(PrivacyEvent) refuses the other combinations).

// Poisson-sampled Gaussian, add_remove, any α > 1: exact binomial sum at integers (Mironov, Talwar, Zhang
// 2019, §3.3), their two-sided series elsewhere, and never above the chord between the neighbouring integers.
double rdp_poisson_gaussian(double rate, double noise_multiplier, double alpha);

// Any mechanism, Poisson, add_remove, integer α ≥ 2 (Zhu, Wang 2019, Theorem 5). `unsampled(j)` is RDP(j).
double rdp_poisson_generic(double rate, const std::function<double(double)>& unsampled, std::uint64_t alpha);

// Any mechanism, without replacement, replace_one, integer α ≥ 2 (Wang, Balle, Kasiviswanathan 2019, Theorem
// 9).
double rdp_without_replacement(double fraction, const std::function<double(double)>& unsampled,
                               double pure_epsilon, std::uint64_t alpha);

// (ε, δ) of one use after sampling a fraction q: log(1 + q(e^ε − 1)), qδ (Balle, Barthe, Gaboardi 2018:
// Poisson under add_remove, without replacement under replace_one).
ApproximateDp amplify(ApproximateDp unsampled, double fraction);

// The chance of one unit to take part: 1, the Poisson rate, or cohort / population.
double participation_rate(const Sampling& sampling);

// The best of the above for one use of the event; infinity where no theorem covers the order.
double rdp_of_one_use(const PrivacyEvent& event, double alpha);
bool covers_fractional_orders(const PrivacyEvent& event);

}  // namespace sotto::privacy
