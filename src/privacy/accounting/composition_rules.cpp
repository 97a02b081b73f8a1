#include "privacy/accounting/composition_rules.h"

#include <cmath>

#include "privacy/accounting/rdp_curves.h"

namespace sotto::privacy {

Status validate_composition(std::span<const PrivacyEvent> events) {
  if (events.empty()) return bad_input("there is nothing to account for: give at least one event");
  for (const auto& event : events) {
    SOTTO_CHECK(validate(event));
    if (event.adjacency != events.front().adjacency) {
      return bad_input(
          "events of adjacency {} and {} do not add up: restate them under one adjacency "
          "(to_replace_one converts unsampled add-remove events)",
          name(events.front().adjacency), name(event.adjacency));
    }
    if (event.unit != events.front().unit) {
      return bad_input("events that protect a {} and a {} do not add up: restate them for one unit",
                       name(events.front().unit), name(event.unit));
    }
  }
  return {};
}

SamplerDistance sampler_distance_of(std::span<const PrivacyEvent> events) {
  SamplerDistance sum;
  for (const auto& event : events) {
    sum.total_variation += static_cast<double>(event.count) * event.total_variation;
    sum.log_ratio += static_cast<double>(event.count) * event.log_ratio;
  }
  return sum;
}

double delta_of_approximate_events(std::span<const PrivacyEvent> events) {
  double sum = 0;
  for (const auto& event : events) {
    if (const auto* m = std::get_if<ApproximateDp>(&event.mechanism)) {
      sum += static_cast<double>(event.count) * amplify(*m, participation_rate(event.sampling)).delta;
    }
  }
  return sum * std::exp(sampler_distance_of(events).log_ratio);
}

double delta_of_sampler(double epsilon, double total_variation) {
  return total_variation > 0 ? (1 + std::exp(epsilon)) * total_variation : 0;
}

double pure_epsilon_with_sampler(const PrivacyEvent& event) {
  return rdp_at_infinity(event.mechanism) + 2 * event.log_ratio;
}

bool is_known_by_epsilon_alone(const Mechanism& mechanism) {
  return std::holds_alternative<PureDp>(mechanism) || std::holds_alternative<ApproximateDp>(mechanism);
}

double delta_of_their_samplers(std::span<const PrivacyEvent> events) {
  double sum = 0;
  for (const auto& event : events) {
    if (!is_known_by_epsilon_alone(event.mechanism)) continue;
    sum += static_cast<double>(event.count) *
           delta_of_sampler(pure_epsilon_with_sampler(event), event.total_variation);
  }
  return sum;
}

Result<double> epsilon_with_sampler_slack(double delta, SamplerDistance distance,
                                          const std::function<Result<double>(double)>& epsilon_for) {
  const double delta_of_law = delta * std::exp(-distance.log_ratio);
  const auto epsilon_at = [&](double share) -> Result<double> {
    SOTTO_TRY(const double epsilon, epsilon_for(share * delta_of_law));
    return epsilon + 2 * distance.log_ratio;
  };
  if (distance.total_variation == 0) return epsilon_at(1);
  for (const double share : {0.999, 0.99, 0.9, 0.5, 0.1}) {
    SOTTO_TRY(const double epsilon, epsilon_at(share));
    if (delta_of_sampler(epsilon, distance.total_variation) <= (1 - share) * delta) return epsilon;
  }
  return bad_input(
      "the samplers' total variation adds up to {:.3g}, too much for delta {:.3g}: use an exact sampler or a "
      "larger delta",
      distance.total_variation, delta);
}

}  // namespace sotto::privacy
