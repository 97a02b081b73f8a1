#pragma once
// The sound path for a model that somebody else computes: whoever brings a flat vector of parameters and what
// single users would send for it gets clipping, encoding, noise, sums, server steps, checkpoints and
// accounting of a recipe. The model itself is never seen here.
//
// RUN/settings.toml, privacy.toml, privacy.txt, privacy.json, last.sotto, best.sotto, log.jsonl: as in any
// run.

#include "fl/private_training.h"
#include "fl/round_engine.h"

namespace sotto::recipes {

struct OwnModelSettings {
  std::int64_t cohort = 0;
  fl::EngineSettings engine;
  fl::PrivateTrainingSettings budget;
  fl::OptimiserSettings optimiser;
  OwnModelSettings();
  void bind(SettingsTable& table);
};

struct OwnModelRequest {
  fs::path run;
  std::vector<data::UserId> users;  // who trains: ascending, each once
  fl::UserUpdates& updates;
  privacy::NoiseOrigin noise = privacy::NoiseOrigin::secret();
  std::uint64_t seed = 1;  // of who is lost, where the settings lose some
  bool resume = false;
  fl::Observe observe = {};
};

struct OwnModelOutcome {
  fl::RunSummary summary;
  privacy::PrivacyDatasheet privacy;
};

// Leaves the trained parameters in `parameters`. Refuses a folder that is not empty unless the run in it is
// resumed, with the settings it had.
Result<OwnModelOutcome> train_own_model(const OwnModelSettings& settings, model::FlatParameters& parameters,
                                        const OwnModelRequest& request);

}  // namespace sotto::recipes
