#include "serving/mechanism_choice.h"

#include <array>
#include <cmath>

namespace sotto::serving {

namespace {

struct Step {
  double from_epsilon;
  std::size_t prototypes;
};

// The best size found at the ε of the table, for devices that rank the answer again: below, the public list
// holds more of what they want than the list of a prototype that is mostly wrong.
constexpr std::array steps = {Step{6.5, 64}, Step{4, 8}};

}  // namespace

Result<MechanismForEpsilon> serving_mechanism_for(double epsilon) {
  if (!std::isfinite(epsilon) || epsilon <= 0)
    return bad_input("epsilon {} is not a budget: give a finite number above 0", epsilon);
  for (const auto& [from, prototypes] : steps) {
    if (epsilon < from) continue;
    // k-ary response keeps with e^ε/(e^ε + K − 1); a changed answer says nothing about the reader, and one in
    // K of those who say nothing names the true prototype all the same.
    const auto k = static_cast<double>(prototypes);
    return MechanismForEpsilon{prototypes, k / (std::exp(epsilon) + k - 1)};
  }
  return MechanismForEpsilon{};
}

}  // namespace sotto::serving
