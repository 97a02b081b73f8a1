#pragma once
// What of a trained run's pack the operator chooses.

#include <cstdint>

#include "base/settings.h"

namespace sotto::serving {

struct ServedRunSettings {
  std::int64_t prototypes = 64, basis_vectors = 5;
  // Budget, per training reader, of the one release of demand per group of items; 0: items alone are used.
  double demand_epsilon = 0;

  void bind(SettingsTable& table) {
    table.add("prototypes", prototypes, {2, 4095}, "Prototypes made of the run")
        .add("basis_vectors", basis_vectors, {2, 1024},
             "Basis vectors made of the run, where it has none of its own")
        .add("demand_epsilon", demand_epsilon, {0, 1000},
             "Let prototypes follow demand, released once with this budget per reader; 0: not at all");
  }
};

}  // namespace sotto::serving
