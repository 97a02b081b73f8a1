#include "privacy/mechanisms/choice_release.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/distributions.h"
#include "privacy/mechanisms/parameter_checks.h"
#include "privacy/noise/reference_samplers.h"

namespace sotto::privacy {

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

Result<KaryResponse> KaryResponse::create(double epsilon, std::uint64_t categories, Unit unit) {
  SOTTO_CHECK(require_epsilon(epsilon));
  SOTTO_CHECK(require_at_least(categories, 2, "number of categories"));
  if (epsilon < 1e-12)
    return bad_input("epsilon {} is below the precision of the response: use at least 1e-12", epsilon);
  const double keep = 1 / (1 + (static_cast<double>(categories) - 1) * std::exp(-epsilon));
  // 2^-50 covers the rounding errors of the line above.
  const auto keep_below = static_cast<std::uint64_t>(std::ldexp(keep * (1 - 0x1.0p-50), 64));
  return KaryResponse(epsilon, categories, unit, keep_below);
}

Result<std::uint64_t> KaryResponse::respond(std::uint64_t value, DeviceRandom random) const {
  if (value >= categories_) return bad_input("value {} is outside the {} categories", value, categories_);
  const bool keep = random.source()() < keep_below_;
  const std::uint64_t other = uniform_below(random.source(), categories_ - 1);
  return keep ? value : other + (other >= value ? 1 : 0);
}

PrivacyEvent KaryResponse::event() const {
  return {.mechanism = RandomisedResponse{epsilon_, categories_},
          .adjacency = Adjacency::replace_one,
          .unit = unit_};
}

Result<PrototypeSelection> PrototypeSelection::create(PrototypeRule rule, double epsilon,
                                                      std::uint64_t prototypes) {
  SOTTO_CHECK(require_at_least(prototypes, 2, "number of prototypes"));
  if (rule == PrototypeRule::response) {
    SOTTO_TRY(const auto response, KaryResponse::create(epsilon, prototypes, Unit::user));
    return PrototypeSelection(prototypes, response);
  }
  SOTTO_TRY(const auto mechanism, ExponentialMechanism::create({.epsilon = epsilon, .sensitivity = 2}));
  return PrototypeSelection(prototypes, mechanism);
}

Result<std::uint64_t> PrototypeSelection::choose(std::span<const double> similarities,
                                                 DeviceRandom random) const {
  SOTTO_CHECK(require_length(similarities.size(), prototypes_, "the similarities"));
  for (const double similarity : similarities) {
    if (!(similarity >= -1 && similarity <= 1)) {
      return bad_input("similarity {} is outside [-1, 1]: the sensitivity would not hold", similarity);
    }
  }
  if (const auto* response = std::get_if<KaryResponse>(&choice_)) {
    const auto best = std::max_element(similarities.begin(), similarities.end()) - similarities.begin();
    return response->respond(static_cast<std::uint64_t>(best), random);
  }
  SOTTO_TRY(const std::size_t chosen, std::get<ExponentialMechanism>(choice_).choose(similarities, random));
  return std::uint64_t{chosen};
}

PrivacyEvent PrototypeSelection::event() const {
  return std::visit([](const auto& choice) { return choice.event(); }, choice_);
}

double share_that_tells_nothing(double epsilon, std::uint64_t prototypes) {
  const auto k = static_cast<double>(prototypes);
  return k / (std::exp(epsilon) + k - 1);
}

double share_of_average_user(double epsilon, std::uint64_t prototypes) {
  constexpr double most = 0.75;
  const double share = share_that_tells_nothing(epsilon, prototypes);
  return share <= most ? share : 1;
}

Result<std::vector<double>> cosine_similarities(std::span<const float> prototypes,
                                                std::span<const float> user) {
  if (user.empty() || prototypes.size() % user.size() != 0) {
    return bad_input("{} prototype numbers are not rows of {}", prototypes.size(), user.size());
  }
  const auto norm_of = [](std::span<const float> values) {
    double squares = 0;
    for (const float value : values) squares += static_cast<double>(value) * value;
    return std::sqrt(squares);
  };
  const double user_norm = norm_of(user);
  std::vector<double> similarities;
  for (; !prototypes.empty(); prototypes = prototypes.subspan(user.size())) {
    const auto row = prototypes.first(user.size());
    double product = 0;
    for (std::size_t i = 0; i < row.size(); ++i) product += static_cast<double>(row[i]) * user[i];
    const double cosine = product / (user_norm * norm_of(row));
    similarities.push_back(std::isfinite(cosine) ? std::clamp(cosine, -1.0, 1.0) : 0.0);
  }
  return similarities;
}

}  // namespace sotto::privacy
