#include "privacy/mechanisms/prototype_selection.h"

#include <algorithm>
#include <cmath>

#include "privacy/mechanisms/parameter_checks.h"

namespace sotto {

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

}  // namespace sotto
