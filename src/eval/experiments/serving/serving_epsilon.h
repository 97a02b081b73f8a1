#pragma once
// 'sotto experiment serving-epsilon': how much recommendation quality private serving keeps, for every
// mechanism and ε.

#include "eval/experiments/experiment.h"

namespace sotto::eval {

Result<ExperimentResult> run_serving_epsilon(const ExperimentRequest& request);

}  // namespace sotto::eval
