#include <array>

#include "base/settings.h"
#include "eval/experiments/experiment.h"
#include "eval/experiments/serving/serving_epsilon.h"

namespace sotto {

std::span<const ExperimentEntry> experiments() {
  static constexpr std::array entries = {
      ExperimentEntry{"serving-epsilon",
                      "Quality of private serving against epsilon, every mechanism, with and without "
                      "re-ranking on the device",
                      &run_serving_epsilon},
      ExperimentEntry{"privaterec-serving-epsilon",
                      "PrivateRec's figure of AUC against the serving epsilon: the same as serving-epsilon",
                      &run_serving_epsilon},
  };
  return entries;
}

Result<const ExperimentEntry*> find_experiment(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& entry : experiments()) {
    if (entry.name == name) return &entry;
    names.emplace_back(entry.name);
  }
  if (const auto near = nearest(name, names))
    return bad_input("unknown experiment '{}'; did you mean '{}'? --list names them all", name, *near);
  return bad_input("unknown experiment '{}'; --list names them all", name);
}

}  // namespace sotto
