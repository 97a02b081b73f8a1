#pragma once
// The front door of the audit: every audit and attack by name. Modules that stand above this one bring the
// mechanisms that they run (secagg/vectors/audited_sums.h); the command puts them together.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "privacy/audit/audited_mechanism.h"
#include "privacy/audit/history_recovery.h"
#include "privacy/audit/mechanism_subjects.h"
#include "privacy/audit/one_run_audit.h"

namespace sotto::privacy {

enum class AuditKind { mechanism, one_run, attack };

struct AuditEntry {
  AuditKind kind;
  std::string name;
  std::string summary;
  bool refutation_expected;                             // a paper's wrong claim or a planted fault
  std::uint32_t index;                                  // within the table of its kind; addresses its draws
  std::function<Result<AuditedMechanism>()> make = {};  // of a mechanism
};

// further: mechanisms of other modules, behind those of this one.
std::vector<AuditEntry> audit_catalogue(std::span<const MechanismEntry> further = {});

// The entries with these names, in the order of the catalogue, each once; all of them for no names. An
// unknown name is an error that names the nearest.
Result<std::vector<AuditEntry>> select_audits(const std::vector<AuditEntry>& catalogue,
                                              std::span<const std::string> names);

struct AuditSettings {
  std::uint64_t samples = 200'000;  // releases per neighbour in mechanism audits
  std::uint64_t seed = 1;
  // All bounds of one call of run_audits hold together with this confidence.
  double confidence = 1 - 1e-6;
};
Status validate(const AuditSettings& settings);

using AuditReport = std::variant<AuditFinding, OneRunFinding, AttackFinding>;

// Runs one of `together` audits, which share the chance of error evenly.
Result<AuditReport> run_audit(const AuditEntry& entry, const AuditSettings& settings, std::size_t together);

}  // namespace sotto::privacy
