#pragma once
// The sound path for a model that somebody else computes: whoever brings a flat vector of parameters and what
// single users would send for it gets clipping, encoding, noise, sums, server steps, checkpoints and
// accounting of a recipe. The model itself is never seen here.
//
// RUN/settings.toml, privacy.toml, privacy.txt, privacy.json, last.sotto, best.sotto, log.jsonl: as in any
// run. RUN/training.json: whose noise, which users and how many parameters, in place of run.json.

#include <functional>
#include <optional>

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

// Where what users send is no gradient of the parameters: how many numbers it has, and what makes the
// direction [P] to descend along of their noisy mean [dimension], which is all that it may read of users.
struct OwnFold {
  std::uint64_t dimension = 0;
  std::function<Result<torch::Tensor>(std::uint32_t round, const torch::Tensor& mean)> direction;
};

struct OwnModelRequest {
  fs::path run;
  std::vector<data::UserId> users;  // who trains: ascending, each once
  fl::UserUpdates& updates;
  std::optional<OwnFold> fold = {};  // none: users send gradients of the parameters
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
// resumed: with the settings, users and number of parameters it had, with secret noise or the simulation's
// seed as before, and with the checkpoint of the rounds it released.
Result<OwnModelOutcome> train_own_model(const OwnModelSettings& settings, model::FlatParameters& parameters,
                                        const OwnModelRequest& request);

}  // namespace sotto::recipes
