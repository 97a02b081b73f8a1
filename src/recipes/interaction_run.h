#pragma once
// What all recipes over interaction data share: protocol, inputs, model, local training, and the way through
// the round engine to test metrics.

#include <memory>

#include "fl/cohort_sampler.h"
#include "fl/interaction_training.h"
#include "fl/private_training.h"
#include "recipes/recipe.h"

namespace sotto {

struct InteractionRunSettings {
  std::string inputs = "rich";
  std::int64_t cohort = 100, tuning_epochs = 0;
  double tuning_rate = 0.1;
  InteractionSettings data;
  TabularShape shape;
  TaskSettings tasks;
  CopySettings copies;
  void bind(SettingsTable& table);
};

// Everything is built from (data, settings, seed). Movable; refers to the request.
class InteractionRun {
 public:
  static Result<InteractionRun> prepare(const InteractionRunSettings& settings, const RunRequest& request,
                                        MetaLearning method = MetaLearning::reptile);

  Result<CohortSampler> sampler() const;
  InteractionTraining& training() { return *training_; }
  const InteractionData& data() const { return *data_; }
  std::uint64_t dimension() const { return static_cast<std::uint64_t>(parameters_->size()); }

  Result<TrainOutcome> train(UpdateSource& source, const OptimiserSettings& optimiser,
                             const EngineSettings& engine);
  // On the sound path; the page about it is in the outcome.
  Result<TrainOutcome> train_soundly(const PrivateTrainingSettings& budget, CohortSampler sampler,
                                     const OptimiserSettings& optimiser, const EngineSettings& engine,
                                     const std::string& recipe);
  Result<TestMetrics> evaluate_best();

 private:
  InteractionRun(const InteractionRunSettings& settings, const RunRequest& request)
      : settings_(settings), request_(request) {}
  TestMetrics measure() const;

  const InteractionRunSettings& settings_;
  const RunRequest& request_;
  std::unique_ptr<InteractionData> data_;
  std::unique_ptr<TabularInputs> inputs_;
  std::shared_ptr<TabularModel> model_;
  std::unique_ptr<FlatParameters> parameters_;
  std::unique_ptr<InteractionTraining> training_;
};

}  // namespace sotto
