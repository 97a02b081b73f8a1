#pragma once
// A mechanism under audit: the pair of neighbours that is worst for it, how to run it on either, and the
// numbers in which a release is looked at. Plain values; `release` may be called from one thread at a time.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "privacy/accounting/event.h"
#include "privacy/mechanisms/parameter_checks.h"
#include "privacy/noise/device_random.h"

namespace sotto::privacy {

// What is claimed, and what an audit proved about it. Plain values.
struct AuditClaim {
  double epsilon = 0;
  double delta = 0;
  // The loss is near a Gaussian one, so that the parametric bound says something.
  bool gaussian = false;
  std::optional<double> mu;  // the claim is μ-GDP itself: exactly Gaussian noise
  // What really holds; nothing: no ε at all. Equal to `epsilon` unless the claim is known to be wrong.
  std::optional<double> holds;
};

struct AuditFinding {
  AuditClaim claim;
  double epsilon = 0;        // proved lower bound at the claim's δ, whatever the law of the noise
  std::optional<double> mu;  // proved lower bound of μ-GDP, for Gaussian-like claims
  std::optional<double>
      delta;  // proved lower bound of δ at the claimed ε, where the mechanism has a δ of its own
  // Lower bound of ε at δ if the loss is Gaussian (and, in a one-run audit, canaries do not disturb each
  // other).
  std::optional<double> parametric;

  double best() const { return std::max(epsilon, parametric.value_or(0)); }
  bool refuted() const {
    return best() > claim.epsilon || (mu && claim.mu && *mu > *claim.mu) || (delta && *delta > claim.delta);
  }
  // How much of what holds the audit can see: the power it has against a fault.
  double share() const {
    const double of_epsilon = claim.holds && *claim.holds > 0 ? best() / *claim.holds : 0;
    return delta && claim.delta > 0 ? std::max(of_epsilon, *delta / claim.delta) : of_epsilon;
  }
};

enum class Neighbour : std::uint32_t { first = 0, second = 1 };

// A claim that we vouch for: ε of one event, at its own δ where it has one, else at `delta`.
Result<AuditClaim> claim_of(const PrivacyEvent& event, double delta);
// What a paper prints, beside what holds at the same δ.
Result<AuditClaim> papers_claim(const MechanismStatement& statement);

struct AuditedMechanism {
  // A number that tends to be large on the first neighbour and small on the second.
  using Statistic = std::function<double(std::span<const double> released)>;

  AuditClaim claim;
  // What would be released without noise, on either neighbour.
  std::array<std::vector<double>, 2> noiseless;
  std::function<Result<std::vector<double>>(Neighbour, DeviceRandom)> release;
  // Empty: the release is a single number that names one of few outcomes.
  std::vector<Statistic> statistics;
};

// Logarithm of the likelihood ratio under Laplace(scale) on every coordinate. Optimal for that law, but equal
// for all releases beyond both centres.
AuditedMechanism::Statistic laplace_ratio(std::vector<double> first, std::vector<double> second,
                                          double scale);
// The release seen along the difference of the two, coordinates weighted by 1/sigma² (one per coordinate, or
// empty for equal ones). Optimal under Gaussian noise; sees what a wrong law does far out.
AuditedMechanism::Statistic projection(std::vector<double> first, std::vector<double> second,
                                       std::vector<double> sigmas = {});

// Runs one mechanism many times on each of two neighbours and proves a lower bound of its ε.
struct SamplingPlan {
  std::uint64_t samples = 100'000;  // releases on each neighbour; half choose the event, half judge it
  std::uint64_t seed = 1;
  std::uint32_t stream = 0;  // audits with different streams draw independently
  double failure = 1e-6;     // chance that any bound of this audit is wrong
};

// 1000 to 10 million samples, 0 < failure < 1.
Status validate(const SamplingPlan& plan);

Result<AuditFinding> audit_mechanism(const AuditedMechanism& mechanism, const SamplingPlan& plan);

}  // namespace sotto::privacy
