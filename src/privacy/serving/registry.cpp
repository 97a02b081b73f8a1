#include <algorithm>

#include "base/settings.h"
#include "privacy/serving/serving_mechanism.h"

namespace sotto::privacy {

// One file each.
ServingMechanismEntry coefficients_mechanism();
ServingMechanismEntry prototypes_mechanism();

ServingMechanisms serving_mechanisms() {
  static const std::vector<ServingMechanismEntry> table = {
      coefficients_mechanism(),
      prototypes_mechanism(),
  };
  return table;
}

Result<const ServingMechanismEntry*> find_mechanism(ServingMechanisms table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const ServingMechanismEntry& entry) { return entry.name == name; });
  if (found != table.end()) return &*found;
  std::vector<std::string> known;
  for (const ServingMechanismEntry& entry : table) known.emplace_back(entry.name);
  const auto near = nearest(name, known);
  return bad_input("unknown mechanism '{}'; {}known are {}", name,
                   near ? fmt::format("did you mean '{}'? ", *near) : "", fmt::join(known, ", "));
}

Result<ServerEstimate> estimate(ServingMechanisms table, const ServingQuery& query,
                                const PublicVectors& vectors) {
  if (const auto* weights = std::get_if<BasisWeights>(&query)) return ServerEstimate(*weights);
  if (const auto* numbers = std::get_if<PrototypeNumbers>(&query)) return ServerEstimate(*numbers);
  if (std::holds_alternative<PopularQuery>(query)) return ServerEstimate(PopularQuery{});
  const auto& own = std::get<MechanismQuery>(query);
  SOTTO_TRY(const auto* entry, find_mechanism(table, own.mechanism));
  if (entry->read == nullptr)
    return bad_input("{} has no bytes of its own: send what it draws in its own form", entry->name);
  return entry->read(own.bytes, vectors);
}

Result<std::vector<float>> ranking_vector(const ServerEstimate& estimate, const PublicVectors& vectors,
                                          double average_share) {
  std::vector<float> vector(vectors.dimension);
  if (const auto* weights = std::get_if<BasisWeights>(&estimate)) {
    if (weights->size() != vectors.basis_rows())
      return bad_input("{} weights for {} basis vectors", weights->size(), vectors.basis_rows());
    for (std::size_t b = 0; b < weights->size(); ++b) {
      for (std::size_t j = 0; j < vector.size(); ++j)
        vector[j] += (*weights)[b] * vectors.basis[b * vectors.dimension + j];
    }
  } else if (const auto* numbers = std::get_if<PrototypeNumbers>(&estimate)) {
    if (numbers->size() != 1 || numbers->front() >= vectors.prototype_rows())
      return bad_input("{} prototypes, the first number {}, are not one of {}", numbers->size(),
                       numbers->empty() ? 0 : numbers->front(), vectors.prototype_rows());
    const float* prototype = vectors.prototypes.data() + numbers->front() * vectors.dimension;
    for (std::size_t j = 0; j < vector.size(); ++j) {
      const double average = vectors.average_user[j];
      vector[j] = static_cast<float>(average + (1 - average_share) * (prototype[j] - average));
    }
  } else {
    vector = vectors.average_user;
  }
  return vector;
}

}  // namespace sotto::privacy
