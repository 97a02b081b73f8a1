#include "serving/mechanism_choice.h"

#include <array>
#include <cmath>

#include "privacy/mechanisms/choice_release.h"

namespace sotto::serving {

namespace {

struct Step {
  double from_epsilon;
  std::size_t prototypes;
};

// The best size found at the ε of the table, for devices that rank the answer again: below, the public list
// holds more of what they want than the list of a prototype that is mostly wrong.
constexpr std::array steps = {Step{9, 256}, Step{6.5, 64}, Step{4, 8}};

}  // namespace

Result<MechanismForEpsilon> serving_mechanism_for(double epsilon) {
  if (!std::isfinite(epsilon) || epsilon <= 0)
    return bad_input("epsilon {} is not a budget: give a finite number above 0", epsilon);
  for (const auto& [from, prototypes] : steps) {
    if (epsilon < from) continue;
    return MechanismForEpsilon{prototypes, privacy::share_of_average_user(epsilon, prototypes)};
  }
  return MechanismForEpsilon{};
}

}  // namespace sotto::serving
