#pragma once
// An experiment regenerates one table or figure: it runs what it must, keeps what is finished, and writes
// CSV, SVG and an HTML report.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "eval/experiments/quick_clock.h"

namespace sotto::eval {

struct Grid;
struct GridContext;

struct ExperimentRequest {
  fs::path data, out;
  fs::path run;        // a trained run to look at; empty: the experiment trains what it needs below `out`
  bool quick = false;  // two minutes (quick_clock.h); marked as quick in everything written
  // Trained with first_seed, first_seed + 1, ...; finished rows of earlier seeds join their table.
  std::int64_t seeds = 1, first_seed = 1;
  std::string device = "cpu";
  std::vector<std::string> assignments;                    // key=value
  std::function<void(const nlohmann::json& event)> event;  // called for every finished row
  // More than one: that many processes of `worker_command` train the runs of a grid at once.
  int jobs = 1;
  std::vector<std::string> worker_command;
  bool worker = false;  // is one of these: trains what no other does, and writes no results
  Seconds now = {};     // what a quick experiment is timed by; empty: the machine's steady clock
};

struct ExperimentResult {
  std::string text;  // the table, for people
  std::vector<fs::path> files;
  // Rows are missing, and the same command goes on: a signal stopped it, or the two minutes of a quick one
  // were over.
  bool interrupted = false, out_of_time = false;
  std::vector<std::string> failures;  // rows that could not be finished, and why; the others are written
};

enum class DataNeed {
  none,
  news,          // impressions of items with text
  interactions,  // ratings or a usage log
};
std::string_view describe(DataNeed need);  // for people

struct ExperimentEntry {
  std::string_view name, paper, shows;
  DataNeed needs = DataNeed::news;
  // One of the two: a grid of training runs, or something of its own.
  Result<Grid> (*grid)(const GridContext& context) = nullptr;
  Result<ExperimentResult> (*run)(const ExperimentRequest& request) = nullptr;
  bool takes_run = false;  // looks at a trained run when one is given
};

// The one table of all experiments, those of a paper together.
std::span<const ExperimentEntry> experiments();
// An unknown name suggests the nearest one.
Result<const ExperimentEntry*> find_experiment(std::string_view name);

// Checks that the data is what the experiment needs. Without data a quick news experiment generates a
// newsroom below `out`.
Result<ExperimentResult> run_experiment(const ExperimentEntry& entry, const ExperimentRequest& request);

}  // namespace sotto::eval
