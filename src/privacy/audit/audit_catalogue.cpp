#include "privacy/audit/audit_catalogue.h"

#include <algorithm>

#include "base/settings.h"

namespace sotto::privacy {

std::vector<AuditEntry> audit_catalogue(std::span<const MechanismEntry> further) {
  std::vector<AuditEntry> entries;
  std::uint32_t index = 0;
  for (const auto& table : {audited_mechanisms(), further}) {
    for (const MechanismEntry& entry : table) {
      entries.push_back(
          {AuditKind::mechanism, entry.name, entry.summary, entry.papers_claim, index++, entry.make});
    }
  }
  index = 0;
  for (const TrainingEntry& entry : audited_trainings()) {
    entries.push_back({AuditKind::one_run, entry.name, entry.summary, entry.planted_fault, index++});
  }
  index = 0;
  for (const AttackEntry& entry : attacks()) {
    entries.push_back({AuditKind::attack, entry.name, entry.shows, false, index++});
  }
  return entries;
}

Result<std::vector<AuditEntry>> select_audits(const std::vector<AuditEntry>& all,
                                              std::span<const std::string> names) {
  if (names.empty()) return all;
  for (const std::string& name : names) {
    if (std::any_of(all.begin(), all.end(), [&](const AuditEntry& entry) { return entry.name == name; }))
      continue;
    std::vector<std::string> known;
    known.reserve(all.size());
    for (const AuditEntry& entry : all) known.push_back(entry.name);
    const auto near = nearest(name, known);
    return bad_input("unknown audit '{}'; {}'sotto privacy audit --list' names them", name,
                     near ? fmt::format("did you mean '{}'? ", *near) : "");
  }
  std::vector<AuditEntry> selected;
  std::copy_if(all.begin(), all.end(), std::back_inserter(selected), [&](const AuditEntry& entry) {
    return std::find(names.begin(), names.end(), entry.name) != names.end();
  });
  return selected;
}

Status validate(const AuditSettings& settings) {
  if (!(settings.confidence > 0 && settings.confidence < 1)) {
    return bad_input("confidence is {}, must lie strictly between 0 and 1, for example 0.999999",
                     settings.confidence);
  }
  return validate(SamplingPlan{.samples = settings.samples});
}

Result<AuditReport> run_audit(const AuditEntry& entry, const AuditSettings& settings, std::size_t together) {
  SOTTO_CHECK(validate(settings));
  const double failure = (1 - settings.confidence) / static_cast<double>(std::max<std::size_t>(1, together));
  switch (entry.kind) {
    case AuditKind::mechanism: {
      SOTTO_TRY(const AuditedMechanism mechanism, entry.make());
      SOTTO_TRY(const AuditFinding finding,
                audit_mechanism(mechanism, {settings.samples, settings.seed, entry.index, failure}));
      return AuditReport(finding);
    }
    case AuditKind::one_run: {
      const auto training = audited_trainings()[entry.index].make();
      SOTTO_TRY(const OneRunFinding finding, audit_one_run(*training, settings.seed, entry.index, failure));
      return AuditReport(finding);
    }
    case AuditKind::attack:
      break;
  }
  SOTTO_TRY(AttackFinding finding, run_attack(attacks()[entry.index], settings.seed));
  return AuditReport(std::move(finding));
}

}  // namespace sotto::privacy
