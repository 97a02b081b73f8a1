#pragma once
// What the flagship adds to the shared parts: who trains, adaptation on the device, and private answers.

#include "fl/personal_model.h"
#include "recipes/news_run.h"
#include "recipes/private_training.h"

namespace sotto {

struct SottoSettings {
  std::int64_t cohort = 0, prototypes = 64;
  std::string noise = "distributed";
  double serving_epsilon = 0;
  PersonalSettings personal;
  void bind(SettingsTable& table);

  std::int64_t cohort_of(std::size_t readers) const;
  // Refuses a budget where there is no noise, none where there is, and answers without prototypes.
  Status check(const PrivateTrainingSettings& training) const;
  // The training's page with what an answer costs.
  PrivacyDatasheet beside(PrivacyDatasheet training) const;
  // Metrics of the best parameters, every reader's device having adapted itself.
  Result<MeanImpressionMetrics> measure_adapted(NewsRun& run, const RunRequest& request,
                                                const TrainingDataSettings& data) const;
  // The same, and what the server makes of private answers, into the outcome of a finished run.
  Status measure(NewsRun& run, const RunRequest& request, const TrainingDataSettings& data,
                 TrainOutcome& outcome) const;
};

// The model as devices use it.
std::shared_ptr<RankingModel> with_personal_vectors(std::shared_ptr<RankingModel> model);

}  // namespace sotto
