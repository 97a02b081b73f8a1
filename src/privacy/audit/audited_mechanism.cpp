#include "privacy/audit/audited_mechanism.h"

#include <cmath>

#include "privacy/accounting/account.h"

namespace sotto {

Result<AuditClaim> claim_of(const PrivacyEvent& event, double delta) {
  AuditClaim claim;
  if (const auto* pure = std::get_if<PureDp>(&event.mechanism)) {
    claim.epsilon = pure->epsilon;
  } else if (const auto* response = std::get_if<RandomisedResponse>(&event.mechanism)) {
    claim.epsilon = response->epsilon;
  } else if (const auto* approximate = std::get_if<ApproximateDp>(&event.mechanism)) {
    claim.epsilon = approximate->epsilon;
    claim.delta = approximate->delta;
  } else {
    SOTTO_TRY(const Guarantee guarantee, account_best(std::span(&event, 1), delta, Adversary::server));
    claim.epsilon = guarantee.epsilon;
    claim.delta = delta;
    claim.gaussian = true;
    if (const auto* gaussian = std::get_if<GaussianNoise>(&event.mechanism)) {
      claim.mu = std::sqrt(static_cast<double>(event.count)) / gaussian->noise_multiplier;
    }
  }
  claim.holds = claim.epsilon;
  return claim;
}

Result<AuditClaim> papers_claim(const MechanismStatement& statement) {
  AuditClaim claim;
  if (statement.holds) {
    SOTTO_TRY(claim, claim_of(*statement.holds, statement.claimed_delta));
  }
  claim.epsilon = statement.claimed_epsilon;
  claim.delta = statement.claimed_delta;
  claim.mu.reset();
  return claim;
}

AuditedMechanism::Statistic laplace_ratio(std::vector<double> first, std::vector<double> second,
                                          double scale) {
  return [first = std::move(first), second = std::move(second), scale](std::span<const double> released) {
    double ratio = 0;
    for (std::size_t i = 0; i < released.size(); ++i) {
      ratio += std::fabs(released[i] - second[i]) - std::fabs(released[i] - first[i]);
    }
    return ratio / scale;
  };
}

AuditedMechanism::Statistic projection(std::vector<double> first, std::vector<double> second,
                                       std::vector<double> sigmas) {
  std::vector<double> weights(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    weights[i] = (first[i] - second[i]) / (sigmas.empty() ? 1 : sigmas[i] * sigmas[i]);
  }
  return [weights = std::move(weights)](std::span<const double> released) {
    double product = 0;
    for (std::size_t i = 0; i < released.size(); ++i) product += weights[i] * released[i];
    return product;
  };
}

}  // namespace sotto
