#pragma once
// All mechanism audits in one table: the parts, and every mechanism that devices serve by.

#include <functional>
#include <span>
#include <string>

#include "privacy/audit/audited_mechanism.h"

namespace sotto {

struct MechanismEntry {
  std::string name, summary;
  // A paper's claim that is wrong: the audit is expected to refute it.
  bool papers_claim;
  std::function<Result<AuditedMechanism>()> make;
};

std::span<const MechanismEntry> audited_mechanisms();

}  // namespace sotto
