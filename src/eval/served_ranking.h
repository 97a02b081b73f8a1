#pragma once
// What it costs a run without a news model that devices rank by public item vectors
// (recipes/trained_factors.h) instead of its own network: both on the same test users.

#include "eval/training_run.h"

namespace sotto::eval {

struct ServedRanking {
  metrics::HeldOutReport own;          // of the network as it was trained
  metrics::HeldOutMetrics served;      // of a device that 'sotto serve' serves it to
  metrics::HeldOutMetrics difference;  // served − own, mean over users
  metrics::HeldOutMetrics error;       // its standard error, by pairs: user by user
};

// Refuses runs that are not served by vectors of items.
Result<ServedRanking> evaluate_as_served(EvaluateJob job, const data::Dataset& dataset);

}  // namespace sotto::eval
