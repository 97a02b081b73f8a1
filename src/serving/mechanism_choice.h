#pragma once
// Which mechanism and size serve best at a given ε: what 'sotto experiment serving-epsilon' measured, as a
// rule (docs/serving/accuracy.md).

#include <cstddef>

#include "base/result.h"

namespace sotto::serving {

struct MechanismForEpsilon {
  // Prototypes that the pack should have, told by k-ary randomised response. 0: telling anything is not worth
  // its ε; devices ask for the public list and rank it again.
  std::size_t prototypes = 0;
  // Share of the average user in what a prototype stands for: the chance that the answer is another than the
  // true one, when all are equally likely.
  double average_share = 1;
};

// epsilon: of one answer, for the whole history; finite and above 0.
Result<MechanismForEpsilon> serving_mechanism_for(double epsilon);

}  // namespace sotto::serving
