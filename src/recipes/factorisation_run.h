#pragma once
// Matrix factorisation on either kind of data: who trains on what, the item factors, and the way through the
// round engine to test metrics.
//
// interactions: PrivRec's protocol (fl/interaction_data.h); test users solve from their support rows.
// impressions:  the users, and the test, of the news recipes; for every test impression the device solves
//               from the history before it and ranks what was shown. Data with both counts as interactions.

#include <memory>
#include <optional>

#include "fl/factorisation_training.h"
#include "fl/training_data.h"
#include "recipes/recipe.h"

namespace sotto {

struct FactorisationRunSettings {
  std::int64_t cohort = 100;
  FactorisationSettings factors;
  InteractionSettings interactions;
  TrainingDataSettings impressions;
  FactorisationRunSettings() { impressions.validation_impressions = 0; }
  void bind(SettingsTable& table);
};

// Everything is built from (data, settings, seed). Movable; refers to the request.
class FactorisationRun {
 public:
  static Result<FactorisationRun> prepare(const FactorisationRunSettings& settings,
                                          const RunRequest& request);

  Result<CohortSampler> sampler() const;
  const DevicePositives& devices() const { return devices_; }
  const FactorModel& model() const { return *model_; }

  Result<TrainOutcome> train(UpdateSource& source, const OptimiserSettings& optimiser,
                             const EngineSettings& engine);
  Result<TestMetrics> evaluate_last();

 private:
  FactorisationRun(const FactorisationRunSettings& settings, const RunRequest& request)
      : settings_(settings), request_(request) {}
  Status choose_devices();
  TestMetrics measure();

  const FactorisationRunSettings& settings_;
  const RunRequest& request_;
  DevicePositives devices_;
  std::optional<InteractionData> interactions_;  // empty: the data has impressions
  std::vector<std::uint32_t> test_impressions_;
  std::shared_ptr<FactorModel> model_;
  std::unique_ptr<FlatParameters> parameters_;
};

}  // namespace sotto
