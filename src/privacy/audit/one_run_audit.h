#pragma once
// The audit of a whole training by one run of it.

#include <cstdint>
#include <memory>
#include <span>

#include "privacy/audit/canary_training.h"
#include "privacy/audit/one_run_bound.h"

namespace sotto {

struct OneRunFinding {
  AuditFinding finding;
  Guesses guesses;  // behind the better of the bounds
};

// Guesses the extreme scores: the highest as in, the lowest as out, for several numbers of guesses; the
// failure probability is split among all bounds that are tried.
Result<OneRunFinding> audit_one_run(CanaryTraining& training, std::uint64_t seed, std::uint32_t stream,
                                    double failure);

struct TrainingEntry {
  const char* name;
  const char* summary;
  bool planted_fault;  // the audit is expected to find it
  std::unique_ptr<CanaryTraining> (*make)();
};

std::span<const TrainingEntry> audited_trainings();

}  // namespace sotto
