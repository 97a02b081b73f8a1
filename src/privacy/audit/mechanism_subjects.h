#pragma once
// Every mechanism as the audit sees it: settings, worst pair of neighbours, statistics. Each function builds
// one; audited_mechanisms() names them.

#include <functional>
#include <span>
#include <string>

#include "privacy/audit/audited_mechanism.h"
#include "privacy/serving/serving_mechanism.h"

namespace sotto::privacy::subject {

// Where a claim of a Gaussian-like mechanism is read.
inline constexpr double audited_delta = 1e-5;

// Noised vectors.
Result<AuditedMechanism> laplace();
Result<AuditedMechanism> gaussian();
Result<AuditedMechanism> elementwise_laplace();
Result<AuditedMechanism> elementwise_laplace_paper();
Result<AuditedMechanism> attention_laplace();
Result<AuditedMechanism> attention_gaussian();
Result<AuditedMechanism> attention_padded();
Result<AuditedMechanism> attention_laplace_paper();
Result<AuditedMechanism> attention_gaussian_paper();
Result<AuditedMechanism> embedding_laplace();
Result<AuditedMechanism> embedding_gaussian();
Result<AuditedMechanism> embedding_laplace_paper();
Result<AuditedMechanism> embedding_gaussian_paper();

// Noised choices.
Result<AuditedMechanism> exponential();
Result<AuditedMechanism> response();
Result<AuditedMechanism> chosen_by_response(double epsilon, std::uint64_t choices);
Result<AuditedMechanism> label_release();
Result<AuditedMechanism> label_permutation_paper();
Result<AuditedMechanism> prototype_by_response();
Result<AuditedMechanism> prototype_by_similarity();
Result<AuditedMechanism> unknown_items_count();
Result<AuditedMechanism> unknown_items_newcomer();

// What a device sends by a mechanism of the serving table, as it goes over the wire, in its worst case.
Result<AuditedMechanism> served(const ServingMechanismEntry& entry);

// Noised sums.
Result<AuditedMechanism> clipped_mean();
Result<AuditedMechanism> adaptive_clip();
Result<AuditedMechanism> skellam_shares();
Result<AuditedMechanism> discrete_gaussian_shares();
Result<AuditedMechanism> public_catalogue();

}  // namespace sotto::privacy::subject

namespace sotto::privacy {

// All mechanism audits in one table: the parts, and every mechanism that devices serve by.
struct MechanismEntry {
  std::string name, summary;
  // A paper's claim that is wrong: the audit is expected to refute it.
  bool papers_claim;
  std::function<Result<AuditedMechanism>()> make;
};

std::span<const MechanismEntry> audited_mechanisms();

}  // namespace sotto::privacy
