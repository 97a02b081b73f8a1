#include "privacy/audit/mechanism_subjects.h"

namespace sotto::privacy::subject {

namespace {

using Vector = std::vector<double>;

// What somebody who reads the wire sees, as numbers: weights as they are, anything else as one whole number
// that names the outcome.
Vector numbers_of(const ServingQuery& query) {
  if (const auto* weights = std::get_if<BasisWeights>(&query)) return {weights->begin(), weights->end()};
  std::uint64_t outcome = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&](std::uint64_t value) { outcome = (outcome ^ value) * 0x100000001b3; };
  if (const auto* numbers = std::get_if<PrototypeNumbers>(&query)) {
    for (const std::uint32_t number : *numbers) add(number);
  } else if (const auto* own = std::get_if<MechanismQuery>(&query)) {
    for (const char byte : own->bytes) add(static_cast<unsigned char>(byte));
  }
  return {static_cast<double>(outcome >> 11)};  // what a double holds exactly
}

}  // namespace

Result<AuditedMechanism> served(const ServingMechanismEntry& entry) {
  const WorstCase worst = entry.worst_case();
  SOTTO_TRY(std::shared_ptr<const ServingMechanism> mechanism,
            entry.make(worst.settings, std::make_shared<const PublicVectors>(worst.vectors)));
  const auto price = mechanism->price();
  if (!price) return bad_input("the worst case of {} has no epsilon: there is nothing to audit", entry.name);
  AuditedMechanism subject;
  SOTTO_TRY(subject.claim, claim_of(price->history, audited_delta));
  bool is_vector = false;
  for (std::size_t neighbour = 0; neighbour < worst.users.size(); ++neighbour) {
    SOTTO_TRY(const ServingQuery plain, mechanism->exact(worst.users[neighbour]));
    subject.noiseless[neighbour] = numbers_of(plain);
    is_vector = std::holds_alternative<BasisWeights>(plain);
  }
  subject.release = [mechanism, users = worst.users](Neighbour neighbour,
                                                     DeviceRandom random) -> Result<Vector> {
    SOTTO_TRY(const ServingQuery query, mechanism->draw(users[static_cast<std::size_t>(neighbour)], random));
    return numbers_of(query);
  };
  if (is_vector) subject.statistics.push_back(projection(subject.noiseless[0], subject.noiseless[1]));
  return subject;
}

}  // namespace sotto::privacy::subject
