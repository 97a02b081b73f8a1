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

namespace sotto {

struct ExperimentRequest {
  fs::path data, out;
  fs::path run;        // a trained run to look at; empty: the experiment trains one below `out`
  bool quick = false;  // two minutes on two cores; marked as quick in everything written
  std::int64_t seeds = 1;
  std::vector<std::string> assignments;                    // key=value
  std::function<void(const nlohmann::json& event)> event;  // called for every finished row
};

struct ExperimentResult {
  std::string text;  // the table, for people
  std::vector<fs::path> files;
  bool interrupted = false;  // run the same command again to go on
};

struct ExperimentEntry {
  std::string_view name, shows;
  Result<ExperimentResult> (*run)(const ExperimentRequest& request);
};

// The one table of all experiments.
std::span<const ExperimentEntry> experiments();
// An unknown name suggests the nearest one.
Result<const ExperimentEntry*> find_experiment(std::string_view name);

}  // namespace sotto
