#include <cmath>
#include <memory>

#include "privacy/audit/mechanism_subjects.h"
#include "privacy/mechanisms/choice_release.h"
#include "privacy/mechanisms/label_release.h"
#include "privacy/mechanisms/partition_selection.h"

namespace sotto::privacy::subject {

namespace {

using Vector = std::vector<double>;

// The first candidate against all others. The more there are, the closer the exponential mechanism comes to
// its ε, and the rarer the first is chosen.
constexpr std::size_t candidate_count = 8;

std::array<Vector, 2> opposite_scores(double low, double high) {
  std::array<Vector, 2> scores{Vector(candidate_count, low), Vector(candidate_count, high)};
  scores[0][0] = high;
  scores[1][0] = low;
  return scores;
}

// A sample as one whole number: the items sent as bits, the positive above them.
double code_of(const LabelledSample& sample, std::uint32_t shown) {
  std::uint64_t items = std::uint64_t{1} << sample.positive;
  for (const std::uint32_t item : sample.negatives) items |= std::uint64_t{1} << item;
  return static_cast<double>((std::uint64_t{sample.positive} << shown) | items);
}

Result<AuditedMechanism> prototype(PrototypeRule rule) {
  SOTTO_TRY(const auto mechanism, PrototypeSelection::create(rule, 1, candidate_count));
  SOTTO_TRY(const AuditClaim claim, claim_of(mechanism.event(), audited_delta));
  AuditedMechanism subject{.claim = claim, .noiseless = {Vector{0}, Vector{1}}};
  subject.release = [mechanism, similarities = opposite_scores(-1, 1)](
                        Neighbour neighbour, DeviceRandom random) -> Result<Vector> {
    SOTTO_TRY(const std::uint64_t chosen,
              mechanism.choose(similarities[static_cast<std::size_t>(neighbour)], random));
    return Vector{static_cast<double>(chosen)};
  };
  return subject;
}

// `first` and `second`: how many users hold the one item; 0: it is not listed at all.
Result<AuditedMechanism> unknown_items(double delta, std::uint64_t first, std::uint64_t second) {
  SOTTO_TRY(const auto created, UnknownItems::create(1, delta, 1));
  SOTTO_TRY(const AuditClaim claim, claim_of(created.event(), audited_delta));
  const auto seen = [threshold = created.threshold()](std::uint64_t users) {
    const auto count = static_cast<std::int64_t>(users);
    return Vector{count >= threshold ? static_cast<double>(count) : 0.0};
  };
  AuditedMechanism subject{.claim = claim, .noiseless = {seen(first), seen(second)}};
  subject.release = [mechanism = std::make_shared<const UnknownItems>(created), first, second](
                        Neighbour neighbour, DeviceRandom random) -> Result<Vector> {
    std::vector<ItemCount> counts;
    const std::uint64_t users = neighbour == Neighbour::first ? first : second;
    if (users > 0) counts.push_back({7, users});
    SOTTO_TRY(const auto named, mechanism->select(counts, random));
    return Vector{named.empty() ? 0.0 : static_cast<double>(named[0].second)};
  };
  subject.statistics.push_back([](std::span<const double> released) { return released[0]; });
  return subject;
}

}  // namespace

Result<AuditedMechanism> exponential() {
  SOTTO_TRY(const auto mechanism, ExponentialMechanism::create({.epsilon = 1, .sensitivity = 1}));
  SOTTO_TRY(const AuditClaim claim, claim_of(mechanism.event(), audited_delta));
  AuditedMechanism subject{.claim = claim, .noiseless = {Vector{0}, Vector{1}}};
  subject.release = [mechanism, scores = opposite_scores(0, 1)](Neighbour neighbour,
                                                                DeviceRandom random) -> Result<Vector> {
    SOTTO_TRY(const std::size_t chosen,
              mechanism.choose(scores[static_cast<std::size_t>(neighbour)], random));
    return Vector{static_cast<double>(chosen)};
  };
  return subject;
}

Result<AuditedMechanism> response() { return chosen_by_response(1, 4); }

Result<AuditedMechanism> chosen_by_response(double epsilon, std::uint64_t choices) {
  SOTTO_TRY(const auto mechanism, KaryResponse::create(epsilon, choices));
  SOTTO_TRY(const AuditClaim claim, claim_of(mechanism.event(), audited_delta));
  AuditedMechanism subject{.claim = claim, .noiseless = {Vector{0}, Vector{1}}};
  subject.release = [mechanism](Neighbour neighbour, DeviceRandom random) -> Result<Vector> {
    SOTTO_TRY(const std::uint64_t answer, mechanism.respond(static_cast<std::uint64_t>(neighbour), random));
    return Vector{static_cast<double>(answer)};
  };
  return subject;
}

Result<AuditedMechanism> label_release() {
  constexpr std::uint32_t shown_count = 5, negative_count = 2;
  SOTTO_TRY(const auto mechanism, SoundLabelRelease::create(1, negative_count));
  SOTTO_TRY(const MechanismStatement statement, mechanism.statement(shown_count));
  SOTTO_TRY(const AuditClaim claim, claim_of(*statement.holds, audited_delta));
  AuditedMechanism subject{
      .claim = claim,
      .noiseless = {Vector{code_of({0, {2, 3}}, shown_count)}, Vector{code_of({1, {2, 3}}, shown_count)}}};
  subject.release = [mechanism](Neighbour neighbour, DeviceRandom random) -> Result<Vector> {
    SOTTO_TRY(const LabelledSample sample,
              mechanism.release(shown_count, static_cast<std::uint32_t>(neighbour), random));
    return Vector{code_of(sample, shown_count)};
  };
  return subject;
}

Result<AuditedMechanism> label_permutation_paper() {
  constexpr std::uint32_t shown_count = 8, negative_count = 4;
  SOTTO_TRY(const auto mechanism, PaperLabelPermutation::create(1, negative_count));
  SOTTO_TRY(const AuditClaim claim, papers_claim(mechanism.statement()));
  AuditedMechanism subject{.claim = claim,
                           .noiseless = {Vector{code_of({0, {2, 3, 4, 5}}, shown_count)},
                                         Vector{code_of({1, {2, 3, 4, 5}}, shown_count)}}};
  subject.release = [mechanism](Neighbour neighbour, DeviceRandom random) -> Result<Vector> {
    const auto click = static_cast<std::uint32_t>(neighbour);
    std::vector<unsigned char> clicked(shown_count);
    clicked[click] = 1;
    SOTTO_TRY(const LabelledSample sample, mechanism.release(clicked, click, random));
    return Vector{code_of(sample, shown_count)};
  };
  return subject;
}

Result<AuditedMechanism> prototype_by_response() { return prototype(PrototypeRule::response); }
Result<AuditedMechanism> prototype_by_similarity() { return prototype(PrototypeRule::similarity); }

// An item well above the threshold: its noisy count costs ε.
Result<AuditedMechanism> unknown_items_count() { return unknown_items(1e-3, 12, 11); }
// An item that one user alone holds: seeing it named is the δ. A large one, so that it can be measured, and
// just above a value that a whole threshold can have.
Result<AuditedMechanism> unknown_items_newcomer() { return unknown_items(0.0135, 1, 0); }

}  // namespace sotto::privacy::subject
