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
  bool incomplete = false;   // rows and seeds are missing
  bool out_of_time = false;  // by the clock of a quick experiment
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
// What the mark of rows below popularity means, and whether all have it; nothing where none has.
inline constexpr const char* below_popularity_mark = " †";
std::string popularity_note(const GridOutcome& outcome);
// One sentence for every row that the clock stopped, and for every one of which some seeds diverged and
// others did not.
std::vector<std::string> row_notes(const GridOutcome& outcome);
// `seeds` counts all that were trained, `diverged` those of them without numbers; `below_popularity` is yes,
// no, or empty where nothing is ranked; `stopped_after` the rounds that a row had when the clock stopped it.
std::string to_csv(const GridOutcome& outcome);
std::string to_csv(const ReportTable& table);
std::string to_text(const GridOutcome& outcome);
Plot to_plot(const GridPlot& plot, const GridOutcome& outcome);
std::string to_html(const GridOutcome& outcome);

}  // namespace sotto::eval
