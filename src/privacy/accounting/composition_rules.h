#pragma once
// What all accountants share: which events may be added up, and which part of δ is gone before any
// conversion.

#include <functional>
#include <span>

#include "privacy/accounting/event.h"

namespace sotto::privacy {

// At least one event, each valid, all with the same adjacency and unit.
Status validate_composition(std::span<const PrivacyEvent> events);

// Σ count · δ over ApproximateDp events after amplification by sampling (union bound).
double delta_of_approximate_events(std::span<const PrivacyEvent> events);

// Σ count · total variation.
double total_variation_of(std::span<const PrivacyEvent> events);

// δ that a sampler at total variation t from its law adds to a promise of ε: (1 + e^ε)t.
double delta_of_sampler(double epsilon, double total_variation);

// Releases of which nothing but ε (and δ) is known. With its sampler each is (ε, δ + (1 + e^ε)t)-DP by its
// own ε, and such releases add up however many there are: nothing is multiplied by e to the power of the sum.
bool is_known_by_epsilon_alone(const Mechanism& mechanism);
// Σ count · (1 + e^ε)t over unsampled releases of that kind.
double delta_of_their_samplers(std::span<const PrivacyEvent> events);

// A mechanism within total variation t of an (ε, δ₀)-DP one is (ε, δ₀ + (1 + e^ε)t)-DP. Splits δ between the
// two: tries shares s until ε = epsilon_for(sδ) leaves room for (1 + e^ε)t ≤ (1 − s)δ. With t = 0 the share
// is 1.
Result<double> epsilon_with_sampler_slack(double delta, double total_variation,
                                          const std::function<Result<double>(double)>& epsilon_for);

}  // namespace sotto::privacy
