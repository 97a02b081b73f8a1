#pragma once
// All mechanism audits in one table.

#include <span>

#include "privacy/audit/audited_mechanism.h"

namespace sotto {

struct MechanismEntry {
  const char* name;
  const char* summary;
  // A paper's claim that is wrong: the audit is expected to refute it.
  bool papers_claim;
  Result<AuditedMechanism> (*make)();
};

std::span<const MechanismEntry> audited_mechanisms();

}  // namespace sotto
