#pragma once
// A grid of one's own: every combination of the values named, for one recipe or several, with several seeds.

#include <string>
#include <vector>

#include "eval/experiments/experiment.h"

namespace sotto::eval {

struct SweepRequest {
  std::vector<std::string> recipes;
  std::vector<std::string> axes;  // key=a,b,c
  ExperimentRequest run;          // its assignments hold for every row
};

// Rows are held against the first by pairs of equal seeds. Keeps and continues what is finished below `out`.
Result<ExperimentResult> run_sweep(const SweepRequest& request);

}  // namespace sotto::eval
