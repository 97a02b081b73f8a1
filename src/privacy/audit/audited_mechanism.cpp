#include "privacy/audit/audited_mechanism.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/interrupt.h"
#include "base/progress.h"
#include "privacy/accounting/account.h"
#include "privacy/audit/gaussian_tradeoff.h"
#include "privacy/audit/threshold_event.h"

namespace sotto::privacy {

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

namespace {

struct Halves {
  std::vector<PairSample> choosing, judging;  // one per statistic
};

Status draw(const AuditedMechanism& mechanism, Neighbour neighbour, const SamplingPlan& plan, Halves& halves,
            Progress& progress) {
  SeededRandom random(plan.seed, Purpose::noise, plan.stream, static_cast<std::uint32_t>(neighbour));
  for (std::uint64_t i = 0; i < plan.samples; ++i) {
    if (interrupted()) return failed("the audit was stopped: what it had drawn so far proves nothing");
    SOTTO_TRY(const std::vector<double> released,
              mechanism.release(neighbour, DeviceRandom::simulated(random)));
    auto& samples = i < plan.samples / 2 ? halves.choosing : halves.judging;
    for (std::size_t j = 0; j < samples.size(); ++j) {
      const double value = mechanism.statistics.empty() ? released.at(0) : mechanism.statistics[j](released);
      (neighbour == Neighbour::first ? samples[j].first : samples[j].second).push_back(value);
    }
    progress.advance();
  }
  return {};
}

// Turns outcomes into numbers: the logarithm of how much more often the choosing half saw them on the first
// neighbour. Outcomes it never saw count as equally likely.
void score_outcomes(PairSample& choosing, PairSample& judging) {
  std::unordered_map<double, std::pair<double, double>> counts;
  for (const double outcome : choosing.first) counts[outcome].first += 1;
  for (const double outcome : choosing.second) counts[outcome].second += 1;
  for (auto* values : {&choosing.first, &choosing.second, &judging.first, &judging.second}) {
    for (double& value : *values) {
      const auto found = counts.find(value);
      value =
          found == counts.end() ? 0 : std::log((found->second.first + 0.5) / (found->second.second + 0.5));
    }
  }
}

}  // namespace

Status validate(const SamplingPlan& plan) {
  if (plan.samples < 1000 || plan.samples > 10'000'000) {
    return bad_input("samples is {}, must lie between 1,000 (fewer prove nothing) and 10,000,000",
                     plan.samples);
  }
  if (!(plan.failure > 0 && plan.failure < 1)) {
    return bad_input("the chance that the audit errs is {}, must lie strictly between 0 and 1", plan.failure);
  }
  return {};
}

Result<AuditFinding> audit_mechanism(const AuditedMechanism& mechanism, const SamplingPlan& plan) {
  SOTTO_CHECK(validate(plan));
  const std::size_t statistics = mechanism.statistics.empty() ? 1 : mechanism.statistics.size();
  Halves halves{std::vector<PairSample>(statistics), std::vector<PairSample>(statistics)};
  {
    Progress progress("drawing", 2 * plan.samples, "releases");
    SOTTO_CHECK(draw(mechanism, Neighbour::first, plan, halves, progress));
    SOTTO_CHECK(draw(mechanism, Neighbour::second, plan, halves, progress));
  }
  if (mechanism.statistics.empty()) score_outcomes(halves.choosing[0], halves.judging[0]);

  AuditFinding finding{.claim = mechanism.claim};
  const double delta = mechanism.claim.delta;
  const bool gaussian = mechanism.claim.gaussian, own_delta = !gaussian && delta > 0;
  const double failure = gaussian || own_delta ? plan.failure / 2 : plan.failure;  // of each bound
  const auto judge = [&](const EventScore& score) {
    const ThresholdEvent event = choose_event(halves.choosing, failure, score);
    return bound_rates(event, halves.judging[event.statistic], failure);
  };
  finding.epsilon =
      epsilon_of_rates(judge([&](const RateBounds& r) { return epsilon_of_rates(r, delta); }), delta);
  if (gaussian) {
    const RateBounds rates = judge([](const RateBounds& r) { return mu_of_rates(r.likely, r.unlikely); });
    finding.mu = mu_of_rates(rates.likely, rates.unlikely);
    SOTTO_TRY(finding.parametric, epsilon_of_mu(*finding.mu, delta));
  }
  if (own_delta) {
    const auto excess = [growth = std::exp(mechanism.claim.epsilon)](const RateBounds& r) {
      return r.likely - growth * r.unlikely;
    };
    finding.delta = std::max(0.0, excess(judge(excess)));
  }
  return finding;
}

}  // namespace sotto::privacy
