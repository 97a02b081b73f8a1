#pragma once
// Runs one mechanism many times on each of two neighbours and proves a lower bound of its ε.

#include <cstdint>

#include "privacy/audit/audited_mechanism.h"

namespace sotto {

struct SamplingPlan {
  std::uint64_t samples = 100'000;  // releases on each neighbour; half choose the event, half judge it
  std::uint64_t seed = 1;
  std::uint32_t stream = 0;  // audits with different streams draw independently
  double failure = 1e-6;     // chance that any bound of this audit is wrong
};

// 1000 to 10 million samples, 0 < failure < 1.
Status validate(const SamplingPlan& plan);

Result<AuditFinding> audit_mechanism(const AuditedMechanism& mechanism, const SamplingPlan& plan);

}  // namespace sotto
