#pragma once
// What all accountants share: which events may be added up, and which part of δ is gone before any
// conversion.

#include <functional>
#include <span>

#include "privacy/accounting/event.h"

namespace sotto::privacy {

// At least one event, each valid, all with the same adjacency and unit.
Status validate_composition(std::span<const PrivacyEvent> events);

// How far the samplers of all events together are from their laws: the outcome of all draws has, up to
// total_variation, a probability within e^±log_ratio of what the laws give it. Both add up over draws.
struct SamplerDistance {
  double total_variation = 0, log_ratio = 0;
  bool is_zero() const { return total_variation == 0 && log_ratio == 0; }
};
SamplerDistance sampler_distance_of(std::span<const PrivacyEvent> events);

// Σ count · δ over ApproximateDp events after amplification by sampling (union bound), as their samplers give
// it.
double delta_of_approximate_events(std::span<const PrivacyEvent> events);

// δ that a sampler at total variation t from its law adds to a promise of ε: (1 + e^ε)t.
double delta_of_sampler(double epsilon, double total_variation);

// What one use of a release costs of which nothing but ε is known: ε + 2·log_ratio.
double pure_epsilon_with_sampler(const PrivacyEvent& event);

// Releases of which nothing but ε (and δ) is known. With its sampler each is (ε, δ + (1 + e^ε)t)-DP by its
// own ε (log_ratio included), and such releases add up however many there are: nothing is multiplied by e to
// the power of the sum.
bool is_known_by_epsilon_alone(const Mechanism& mechanism);
// Σ count · (1 + e^ε)t over unsampled releases of that kind.
double delta_of_their_samplers(std::span<const PrivacyEvent> events);

// A mechanism within e^±λ of an (ε₀, δ₀)-DP one, up to total variation t, is (ε, e^λ·δ₀ + (1 + e^ε)t)-DP with
// ε = ε₀ + 2λ (docs/privacy/accounting.md). Splits δ between the two: tries shares s until ε₀ =
// epsilon_for(sδ·e^−λ) leaves room for (1 + e^ε)t ≤ (1 − s)δ. With t = 0 the share is 1.
Result<double> epsilon_with_sampler_slack(double delta, SamplerDistance distance,
                                          const std::function<Result<double>(double)>& epsilon_for);

}  // namespace sotto::privacy
