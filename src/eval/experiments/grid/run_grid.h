#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "data/dataset.h"
#include "eval/experiments/experiment.h"
#include "eval/experiments/grid/grid.h"
#include "eval/experiments/grid/row_settings.h"

namespace sotto::eval {

// One row of a grid with one seed: trained and tested through the same code as 'sotto train' and 'sotto
// eval', below OUT/runs.

struct RowJob {
  const GridRow& row;
  const RowSettings& settings;
  std::uint64_t seed = 1;
  fs::path data;  // the data set's folder
  fs::path runs;  // OUT/runs
  std::string device = "cpu";
  std::string fingerprint;             // of the data: runs made with another are trained again
  std::uint64_t test_impressions = 0;  // or test users; 0: all
  std::function<bool()> time_is_up;    // training ends at its next round; empty: it takes the time it takes
};

// The folder of a row's run. Rows that train alike share it, whatever they are called.
fs::path run_folder(const RowJob& job);

// Takes a finished run as it is, continues an interrupted one, trains otherwise. Nothing when it was
// interrupted. The result is what 'sotto train --json' prints last, with
//   bytes              both directions, per client and round
//   converged_round    the first look at validation impressions within 0.2 points of the best
//   bytes_to_converge  of all clients until then
//   stopped_after, rounds_planned  where time was up before its last round
Result<std::optional<nlohmann::json>> run_row(const RowJob& job, const data::Dataset& dataset,
                                              const std::function<void(std::uint32_t round)>& observe);

GridContext context_of(const data::Dataset& dataset, const ExperimentRequest& request);

// Trains and tests every row with every seed asked for, all rows with the first of them first. Finished rows
// are kept in OUT/rows.jsonl, runs below OUT/runs; what is there and was made alike is taken as it is,
// finished rows of earlier seeds as well, an interrupted run is continued. Writes results.csv, the plots and
// report.html, also of what an interrupted experiment has. A quick one shares its two minutes among the rows
// (quick_clock.h).
Result<ExperimentResult> run_grid(const Grid& grid, std::string_view name, const ExperimentRequest& request,
                                  const data::Dataset& dataset);

}  // namespace sotto::eval
