#pragma once
// The sound path of a recipe as one object: noise calibrated to the budget, the plan in the run's folder, the
// cohorts' noisy sums as a source of updates, and the page about them (docs/privacy/training.md).

#include <memory>

#include "fl/private_source.h"
#include "recipes/interaction_run.h"
#include "recipes/news_run.h"
#include "recipes/private_training.h"

namespace sotto {

// Refers to the run. Movable.
class SoundRounds {
 public:
  // Refuses a budget that is not given, a run whose best round would be chosen on users' impressions, and to
  // replace another plan. The clipping bound follows a quantile where the budget has one.
  static Result<SoundRounds> begin(const PrivateTrainingSettings& budget, NewsRun& run, CohortSampler sampler,
                                   const EngineSettings& engine, const RunRequest& request);
  static Result<SoundRounds> begin(const PrivateTrainingSettings& budget, InteractionRun& run,
                                   CohortSampler sampler, const EngineSettings& engine,
                                   const RunRequest& request);

  UpdateSource& source() { return *source_; }
  PrivacyDatasheet datasheet(std::string recipe) const { return datasheet_of(plan_, std::move(recipe)); }

 private:
  SoundRounds(PrivateTraining plan, std::unique_ptr<PrivateSource> source)
      : plan_(std::move(plan)), source_(std::move(source)) {}
  static Result<SoundRounds> begin(const PrivateTrainingSettings& budget, UserUpdates& training,
                                   CohortSampler sampler, const EngineSettings& engine,
                                   const RunRequest& request);

  PrivateTraining plan_;
  std::unique_ptr<PrivateSource> source_;
};

}  // namespace sotto
