#pragma once
// A training run from request to result: settings, run folder, training, test metrics. The command line, the
// demo and the experiments all train through this.
//
// RUN/run.json       recipe and what it guarantees, seed, device, data set, whether noise follows from the
// seed RUN/settings.toml  all settings of the recipe RUN/vocabulary.sotto, codes.txt, last.sotto, best.sotto,
// log.jsonl   by the recipe and the round engine RUN/privacy.toml   the plan, for 'sotto privacy account
// RUN'; privacy.txt, privacy.json: the datasheet (recipes
//                    with differential privacy)
// RUN/result.json    what 'sotto train --json' prints last

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/stored_run.h"

namespace sotto::eval {

struct TrainJob {
  std::string recipe;
  fs::path data;  // as given, for run.json
  fs::path out;
  std::uint64_t seed = 1;
  std::string device = "cpu";
  // Noise from the seed: a simulation, for which no ε holds. A resumed run keeps what it was started with.
  bool reproducible = false;
  bool resume = false;
  std::optional<std::int64_t> rounds;
  std::string mode, epsilon;             // empty: the recipe's default
  fs::path config;                       // TOML file; empty: none
  std::vector<std::string> assignments;  // key=value
};

// Refuses an existing run unless it is resumed, and a resumed one with other settings (more rounds are fine).
Result<recipes::TrainOutcome> train_run(const TrainJob& job, const data::Dataset& dataset,
                                        const fl::Observe& observe);

// Test metrics of the best parameters of a run.
Result<recipes::TestMetrics> evaluate_run(const fs::path& run, const data::Dataset& dataset);
// The same with another look at the model and the test impressions; not called for models of interactions.
Result<recipes::TestMetrics> evaluate_run(const fs::path& run, const data::Dataset& dataset,
                                          const recipes::Evaluate& evaluate);
// The same under other settings: only such that leave the shape of the model alone.
Result<recipes::TestMetrics> evaluate_run_as(const fs::path& run, const data::Dataset& dataset,
                                             const std::vector<std::string>& assignments);

// Rounds that the job will run in all, for progress bars; settings are checked as by train_run.
Result<std::int64_t> planned_rounds(const TrainJob& job);

nlohmann::json to_json(const recipes::TrainOutcome& outcome);
nlohmann::json to_json(const metrics::ImpressionMetrics& metrics);
nlohmann::json to_json(const metrics::HeldOutReport& report);

}  // namespace sotto::eval
