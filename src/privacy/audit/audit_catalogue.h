#pragma once
// The front door of the audit: every audit and attack by name.

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "privacy/audit/audited_mechanism.h"
#include "privacy/audit/history_recovery.h"
#include "privacy/audit/one_run_audit.h"

namespace sotto::privacy {

enum class AuditKind { mechanism, one_run, attack };

struct AuditEntry {
  AuditKind kind;
  std::string name;
  std::string summary;
  bool refutation_expected;  // a paper's wrong claim or a planted fault
  std::uint32_t index;       // within the table of its kind
};

const std::vector<AuditEntry>& audit_catalogue();

// The entries with these names, in the order of the catalogue, each once; all of them for no names. An
// unknown name is an error that names the nearest.
Result<std::vector<AuditEntry>> select_audits(std::span<const std::string> names);

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
