#pragma once
// The one loop that trains everything: source -> optimiser -> evaluation -> checkpoint -> log. It knows
// nothing about devices, networks or models beyond a flat vector of parameters.

#include <functional>
#include <memory>
#include <vector>

#include "base/settings.h"
#include "fl/round_update.h"
#include "fl/run_log.h"
#include "fl/server_optimiser.h"
#include "model/flat_parameters.h"

namespace sotto::fl {

struct EngineSettings {
  std::int64_t rounds = 100, evaluate_every = 10, checkpoint_every = 20, patience = 0;
  // validates: rounds are looked at while they train (news); otherwise the last one is kept.
  void bind(SettingsTable& table, bool validates = true);
};

// Scores the current parameters on the validation impressions; empty: none, the last round is the best.
using Validate = std::function<metrics::ImpressionMetrics()>;
// Told about every finished round.
using Observe = std::function<void(const RoundRecord&)>;
// Called when nothing can be refused any more, before a file of the run is touched.
using Begin = std::function<Status()>;

struct RunSummary {
  std::vector<RoundRecord> rounds;
  std::uint32_t best_round = 0;
  double seconds = 0;
  bool interrupted = false;  // stopped by Ctrl-C; everything up to the last round is saved
};

// Refers to its parts. run() leaves the best parameters in place (the last ones without validation). What
// reaches the disk, and in which order: fl/run_log.h.
class RoundEngine {
 public:
  RoundEngine(const EngineSettings& settings, fs::path run, model::FlatParameters& parameters,
              UpdateSource& source, ServerOptimiser& optimiser);

  // Files in the run folder: last.sotto, best.sotto, log.jsonl.
  Result<RunSummary> run(bool resume, const Validate& validate, const Observe& observe,
                         const Begin& begin = {});

 private:
  std::vector<torch::Tensor*> state() const;  // of the optimiser, then of the source
  Checkpoint with_parameters(const Checkpoint& progress) const;
  // To go on from, and what is published. The state may tell who took part and is not for publication.
  Status save_last(const Checkpoint& progress) const;
  Status save_best(const Checkpoint& progress) const;
  Status restore(Checkpoint& progress);
  bool out_of_patience(const Checkpoint& progress) const;

  EngineSettings settings_;
  fs::path run_;
  model::FlatParameters& parameters_;
  UpdateSource& source_;
  ServerOptimiser& optimiser_;
};

}  // namespace sotto::fl
