#pragma once

#include "data/dataset.h"
#include "eval/experiments/experiment.h"
#include "eval/experiments/grid/grid.h"

namespace sotto {

GridContext context_of(const Dataset& dataset, const ExperimentRequest& request);

// Trains and tests every row with every seed, all rows with the first seed first. Finished rows are kept in
// OUT/rows.jsonl, runs below OUT/runs; what is there and was made alike is taken as it is, an interrupted run
// is continued. Writes results.csv, the plots and report.html, also of what an interrupted experiment has.
Result<ExperimentResult> run_grid(const Grid& grid, std::string_view name, const ExperimentRequest& request,
                                  const Dataset& dataset);

}  // namespace sotto
