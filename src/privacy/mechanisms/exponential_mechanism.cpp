#include "privacy/mechanisms/exponential_mechanism.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/distributions.h"
#include "privacy/mechanisms/parameter_checks.h"
#include "privacy/noise/reference_samplers.h"

namespace sotto {

namespace {

constexpr double score_steps = 1 << 30;        // grid steps per sensitivity
constexpr double steps_per_epsilon = 1 << 20;  // per unit of ε

}  // namespace

Result<ExponentialMechanism> ExponentialMechanism::create(const Settings& settings) {
  SOTTO_CHECK(require_epsilon(settings.epsilon));
  SOTTO_CHECK(require_positive(settings.sensitivity, "score sensitivity"));
  if (settings.epsilon < 1 / steps_per_epsilon || settings.epsilon > 1e4) {
    return bad_input("epsilon of the exponential mechanism is {}, must lie between 1e-6 and 10,000",
                     settings.epsilon);
  }
  return ExponentialMechanism(settings);
}

Result<std::size_t> ExponentialMechanism::choose(std::span<const double> scores, DeviceRandom random) const {
  if (scores.empty()) return bad_input("nothing to choose from: pass at least one score");
  std::vector<std::int64_t> steps(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double rounded = std::nearbyint(scores[i] / settings_.sensitivity * score_steps);
    if (!(std::fabs(rounded) < 0x1.0p52)) {
      return bad_input("score {} is {}, too large for sensitivity {} or not a number", i, scores[i],
                       settings_.sensitivity);
    }
    steps[i] = static_cast<std::int64_t>(rounded);
  }
  const std::int64_t best = *std::max_element(steps.begin(), steps.end());
  const auto epsilon_steps = static_cast<std::uint64_t>(std::floor(settings_.epsilon * steps_per_epsilon));
  // Rounding moves a score by up to one step between neighbours: sensitivity 2^30 + 1 steps.
  const std::uint64_t denominator = (std::uint64_t{1} << 21) * ((std::uint64_t{1} << 30) + 1);
  for (;;) {
    const std::size_t candidate = uniform_below(random.source(), scores.size());
    const auto behind = static_cast<std::uint64_t>(best - steps[candidate]);
    const auto numerator = static_cast<unsigned __int128>(behind) * epsilon_steps;
    if (numerator >= std::uint64_t{1} << 63) continue;  // would be kept with probability below e^-4000
    if (reference::bernoulli_exp({static_cast<std::uint64_t>(numerator), denominator}, random.source())) {
      return candidate;
    }
  }
}

PrivacyEvent ExponentialMechanism::event() const {
  return {.mechanism = PureDp{settings_.epsilon}, .adjacency = settings_.adjacency, .unit = settings_.unit};
}

PrivacyEvent ExponentialMechanism::concentrated_event() const {
  PrivacyEvent result = event();
  result.mechanism = ConcentratedDp{settings_.epsilon * settings_.epsilon / 8};
  return result;
}

}  // namespace sotto
