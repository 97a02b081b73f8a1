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

namespace sotto::eval {

// One row of a grid with one seed: trained and tested through the same code as 'sotto train' and 'sotto
// eval', below OUT/runs.

// The settings that a row of a grid really trains with.
struct RowSettings {
  std::vector<std::string> assignments;  // for the recipe, in the order they are applied
  std::string complete;                  // all settings of the recipe with their values, as JSON
};

// What the recipe knows of the shared settings, if the row takes them, then the row's own, then what it knows
// of `given`. Refuses an unknown recipe, and settings of the row that the recipe does not know or that are
// out of range.
Result<RowSettings> row_settings(const Grid& grid, const GridRow& row, const std::vector<std::string>& given);

// Every row is valid, no label is used twice in a group, and every assignment of `given` is known to the grid
// or to one of its recipes: nothing is trained before this holds.
Status check_grid(const Grid& grid, const std::vector<std::string>& given);

struct RowJob {
  const GridRow& row;
  const RowSettings& settings;
  std::uint64_t seed = 1;
  fs::path data;  // the data set's folder
  fs::path runs;  // OUT/runs
  std::string device = "cpu";
  std::string fingerprint;             // of the data: runs made with another are trained again
  std::uint64_t test_impressions = 0;  // or test users; 0: all
};

// The folder of a row's run. Rows that train alike share it, whatever they are called.
fs::path run_folder(const RowJob& job);

// Takes a finished run as it is, continues an interrupted one, trains otherwise. Nothing when it was
// interrupted. The result is what 'sotto train --json' prints last, with
//   bytes              both directions, per client and round
//   converged_round    the first look at validation impressions within 0.2 points of the best
//   bytes_to_converge  of all clients until then
Result<std::optional<nlohmann::json>> run_row(const RowJob& job, const data::Dataset& dataset,
                                              const std::function<void(std::uint32_t round)>& observe);

GridContext context_of(const data::Dataset& dataset, const ExperimentRequest& request);

// Trains and tests every row with every seed, all rows with the first seed first. Finished rows are kept in
// OUT/rows.jsonl, runs below OUT/runs; what is there and was made alike is taken as it is, an interrupted run
// is continued. Writes results.csv, the plots and report.html, also of what an interrupted experiment has.
Result<ExperimentResult> run_grid(const Grid& grid, std::string_view name, const ExperimentRequest& request,
                                  const data::Dataset& dataset);

}  // namespace sotto::eval
