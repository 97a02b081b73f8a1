#pragma once
// A training run from request to result: settings, run folder, training, test metrics. The command line, the
// demo and the experiments all train through this.
//
// RUN/settings.toml  all settings of the recipe
// RUN/run.json       recipe and what it guarantees, seed, device, folder and fingerprint of the data set,
//                    whether noise follows from the seed; written behind settings.toml
// RUN/vocabulary.sotto, codes.txt, last.sotto, best.sotto, log.jsonl   by the recipe and the round engine
// RUN/privacy.toml   the plan, for 'sotto privacy account RUN'; privacy.txt, privacy.json: the datasheet
//                    (recipes with differential privacy)
// RUN/result.json    what 'sotto train --json' prints last

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/stored_run.h"

namespace sotto::eval {

struct TrainJob {
  std::string recipe;
  fs::path data;  // where the data set lies; empty: nowhere
  fs::path out;
  std::uint64_t seed = 1;
  std::string device = "cpu";
  // Noise from the seed: a simulation, for which no ε holds. A resumed run keeps what it was started with.
  bool reproducible = false;
  bool resume = false;
  std::optional<std::int64_t> rounds;
  std::string mode, epsilon, against;    // empty: the recipe's default
  std::uint64_t test_impressions = 0;    // 0: all; also of test users
  fs::path config;                       // TOML file; empty: none
  std::vector<std::string> assignments;  // key=value
};

// For whoever shows how far a run is.
struct TrainWatch {
  fl::Observe round = {};
  std::function<void()> trained = {};  // after the last round, before testing
};

// Refuses an existing run unless it is resumed, and a resumed one with other settings (more rounds are fine)
// or other data; a refusal changes no file. A run that was killed before its first checkpoint starts again
// by the same job, resumed or not: no round of it had been released. Interrupted while it is tested, a run is
// resumed there. One process at a time trains in a folder.
Result<recipes::TrainOutcome> train_run(const TrainJob& job, const data::Dataset& dataset,
                                        const TrainWatch& watch);

struct EvaluateJob {
  fs::path run;
  // Another look at the model and the test impressions; not called for models of interactions.
  recipes::Evaluate evaluate = {};
  recipes::EvaluateHeldOut evaluate_held_out = {};  // the same, of interactions alone
  std::vector<std::string> assignments = {};        // only such that leave the shape of the model alone
  std::uint64_t test_impressions = 0;               // 0: all
  // Data that the run was not trained on: refused unless it is meant, and then said aloud.
  bool other_data = false;
  fs::path data = {};  // where the data set lies, for people
};

// Test metrics of the best parameters of a run.
Result<recipes::TestMetrics> evaluate_run(const EvaluateJob& job, const data::Dataset& dataset);
inline Result<recipes::TestMetrics> evaluate_run(const fs::path& run, const data::Dataset& dataset) {
  return evaluate_run(EvaluateJob{.run = run}, dataset);
}

// Rounds that the job will run in all, for progress bars; settings are checked as by train_run.
Result<std::int64_t> planned_rounds(const TrainJob& job);

nlohmann::json to_json(const recipes::TrainOutcome& outcome);
nlohmann::json to_json(const metrics::ImpressionMetrics& metrics);
// With standard errors, the number of impressions and of those that have no order to judge.
nlohmann::json to_json(const metrics::MeanImpressionMetrics& metrics);
nlohmann::json to_json(const metrics::HeldOutMetrics& metrics);
nlohmann::json to_json(const metrics::HeldOutReport& report);

}  // namespace sotto::eval
