#pragma once
// What a grid writes: results.csv, plots, report.html and the table for the terminal.

#include <string>
#include <vector>

#include "eval/experiments/grid/grid.h"

namespace sotto::eval {

struct GridFacts {
  std::string experiment, data, origin, device;
  data::DatasetCounts counts{};
  std::int64_t seeds = 1;
  bool quick = false;
  bool incomplete = false;  // it was stopped: rows and seeds are missing
};

struct GridOutcome {
  const Grid& grid;
  GridFacts facts;
  std::vector<GridResult> results;  // in the order of the grid's rows
  std::vector<TrivialRow> trivial;
  GridExtra extra;
  std::vector<std::string> failures;
};

// Experiments draw their noise from the seed. What is said of it where a row has an ε; else nothing.
std::string simulation_note(const GridOutcome& outcome);
// That it was stopped; else nothing.
std::string incompleteness_note(const GridOutcome& outcome);
// One sentence for every row of which some seeds diverged and others did not.
std::vector<std::string> divergence_notes(const GridOutcome& outcome);
// `seeds` counts all that were trained, `diverged` those of them without numbers.
std::string to_csv(const GridOutcome& outcome);
std::string to_csv(const ReportTable& table);
std::string to_text(const GridOutcome& outcome);
Plot to_plot(const GridPlot& plot, const GridOutcome& outcome);
std::string to_html(const GridOutcome& outcome);

}  // namespace sotto::eval
