#include "privacy/accounting/calibration.h"

#include <cmath>

#include "privacy/accounting/account.h"
#include "privacy/accounting/gaussian_exact.h"

namespace sotto {
namespace {

constexpr double calibration_tolerance = 1e-4;
constexpr double most_noise = 1e9;

}  // namespace

Result<double> smallest_noise(const Budget& budget, Method method,
                              const std::function<std::vector<PrivacyEvent>(double noise)>& events) {
  if (!(budget.epsilon > 0) || !std::isfinite(budget.epsilon)) {
    return bad_input("the epsilon to reach must be a finite number above 0, not {}", budget.epsilon);
  }
  if (method != Method::pure_composition) SOTTO_CHECK(validate_delta(budget.delta));
  PldTarget upper_only;
  upper_only.with_lower_bound = false;
  std::string refusal;  // why the last amount of noise could not be accounted for
  const auto enough = [&](double noise) {
    const auto guarantee = account(events(noise), budget.delta, method, Adversary::published, upper_only);
    if (!guarantee) refusal = guarantee.error().message;
    return guarantee && guarantee->epsilon <= budget.epsilon;
  };
  double high = 1;
  while (!enough(high)) {
    high *= 2;
    if (high > most_noise) {
      return bad_input("no noise up to {:.0e} reaches epsilon {}{}{}", most_noise, budget.epsilon,
                       refusal.empty() ? "" : ": ", refusal);
    }
  }
  double low = high / 2;
  while (low > 1e-6 && enough(low)) {
    high = low;
    low /= 2;
  }
  while (high > low * (1 + calibration_tolerance)) {
    const double middle = std::sqrt(low * high);
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

Result<double> smallest_gaussian_noise(const Budget& budget, Method method, std::uint64_t rounds,
                                       const Sampling& sampling, Adjacency adjacency) {
  const auto events = [&](double noise) {
    return std::vector<PrivacyEvent>{{GaussianNoise{noise}, adjacency, Unit::user, sampling, rounds}};
  };
  SOTTO_CHECK(validate(events(1).front()));
  if (method != Method::rdp && method != Method::rdp_classical &&
      std::holds_alternative<NoSampling>(sampling)) {
    SOTTO_TRY(const double once, gaussian_noise_for(budget.epsilon, budget.delta));
    return once * std::sqrt(static_cast<double>(rounds));
  }
  return smallest_noise(budget, method, events);
}

}  // namespace sotto
