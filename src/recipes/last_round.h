#pragma once
// Training that publishes its last round: none is chosen on what users did.

#include <functional>

#include "fl/server_optimiser.h"
#include "model/flat_parameters.h"
#include "recipes/recipe.h"

namespace sotto {

// Test metrics of the parameters as they are now.
using MeasureTest = std::function<TestMetrics()>;

// Trains through the round engine, then measures; an interrupted run is not measured. Users and samples are
// left for the caller to fill in.
Result<TrainOutcome> train_to_last_round(const RunRequest& request, FlatParameters& parameters,
                                         UpdateSource& source, const OptimiserSettings& optimiser,
                                         const EngineSettings& engine, const MeasureTest& measure);
// Measures the parameters of a finished run.
Result<TestMetrics> measure_last_round(const RunRequest& request, FlatParameters& parameters,
                                       const MeasureTest& measure);

}  // namespace sotto
