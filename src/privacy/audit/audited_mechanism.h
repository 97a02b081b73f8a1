#pragma once
// A mechanism under audit: the pair of neighbours that is worst for it, how to run it on either, and the
// numbers in which a release is looked at. Plain values; `release` may be called from one thread at a time.

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "privacy/accounting/event.h"
#include "privacy/audit/audit_finding.h"
#include "privacy/mechanisms/guarantee_mode.h"
#include "privacy/noise/device_random.h"

namespace sotto {

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

}  // namespace sotto
