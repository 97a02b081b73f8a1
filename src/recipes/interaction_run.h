#pragma once
// What all recipes over interaction data share: protocol, inputs, model, local training, and the way through
// the round engine to test metrics.

#include <functional>
#include <memory>

#include "fl/cohort_sampler.h"
#include "fl/interaction_training.h"
#include "fl/private_training.h"
#include "fl/server_optimiser.h"
#include "model/flat_parameters.h"
#include "recipes/device_training.h"

namespace sotto::recipes {

// Who trains, and of the others as many as the request tests.
Result<fl::InteractionData> tested_interactions(const RunRequest& request,
                                                const fl::InteractionSettings& settings);

// Training that publishes its last round: none is chosen on what users did.

// Test metrics of the parameters as they are now.
using MeasureTest = std::function<TestMetrics()>;

// Trains through the round engine, then measures; an interrupted run is not measured. Users and samples are
// left for the caller to fill in.
Result<TrainOutcome> train_to_last_round(const RunRequest& request, model::FlatParameters& parameters,
                                         fl::UpdateSource& source, const fl::OptimiserSettings& optimiser,
                                         const fl::EngineSettings& engine, const MeasureTest& measure);
// Puts the parameters of a finished run in place.
Status load_last_round(const RunRequest& request, model::FlatParameters& parameters);
// Measures the parameters of a finished run.
Result<TestMetrics> measure_last_round(const RunRequest& request, model::FlatParameters& parameters,
                                       const MeasureTest& measure);

// How users learn, which decides on what there is to set: local epochs on a copy of the model, one step that
// the server differentiates through, or a gradient of all rows at the shared parameters.
enum class UserLearning { reptile, maml, gradient };

// Starts as federated SGD: one step of everybody drawn, nothing tuned.
struct InteractionRunSettings {
  std::string inputs = "rich";
  std::int64_t cohort = 100, tuning_epochs = 0;
  double tuning_rate = 0.1;
  fl::InteractionSettings data;
  model::TabularShape shape;
  fl::TaskSettings tasks;
  fl::CopySettings copies;

  // PrivRec's rounds (Algorithm 1): M = 30 devices train for E2 local epochs, held to the global model by the
  // unsquared proximal term, and a test user's device fine-tunes. The paper names neither E2, mu nor step
  // sizes: its Figure 2 varies E2 from 5 to 120.
  static InteractionRunSettings reptile();
  // The same, and what the paper's model reads and learns from: features alone, rows rated low as negatives.
  static InteractionRunSettings printed();

  void bind(SettingsTable& table, UserLearning learning);
  // For what these settings leave without effect on each other.
  std::vector<SettingCondition> conditions() const;
};

// Everything is built from (data, settings, seed). Movable; refers to the request.
class InteractionRun {
 public:
  static Result<InteractionRun> prepare(const InteractionRunSettings& settings, const RunRequest& request,
                                        fl::MetaLearning method = fl::MetaLearning::reptile);

  Result<fl::CohortSampler> sampler() const;
  // For an accountant that counts on nobody knowing who was drawn.
  Result<fl::CohortSampler> secret_sampler() const;
  fl::InteractionTraining& training() { return *training_; }
  const fl::InteractionData& data() const { return *data_; }
  std::uint64_t dimension() const { return static_cast<std::uint64_t>(parameters_->size()); }

  Result<TrainOutcome> train(fl::UpdateSource& source, const fl::OptimiserSettings& optimiser,
                             const fl::EngineSettings& engine);
  // On the sound path, with secret_sampler(); the page about it is in the outcome.
  Result<TrainOutcome> train_soundly(const fl::PrivateTrainingSettings& budget, fl::CohortSampler sampler,
                                     const fl::OptimiserSettings& optimiser, const fl::EngineSettings& engine,
                                     const std::string& recipe);
  // Versions of a campaign whose devices are elsewhere (RunRequest::remote).
  Result<TrainOutcome> train_remotely(const fl::BoundRule& rule, const fl::OptimiserSettings& optimiser,
                                      const fl::EngineSettings& engine, const std::string& recipe);
  // What devices train: REPTILE's local steps, and how they tune before they rank.
  Result<fl::DeviceTask> device_task(const std::string& recipe) const;
  Result<TestMetrics> evaluate_best();
  // The first order of the network in what a device remembers, without features of users and situations,
  // which no pack carries, and without tuning. Refuses inputs without a history.
  Result<std::optional<TrainedFactors>> factors_of_best();

 private:
  InteractionRun(const InteractionRunSettings& settings, const RunRequest& request)
      : settings_(settings), request_(request) {}
  TestMetrics measure() const;

  const InteractionRunSettings& settings_;
  const RunRequest& request_;
  std::unique_ptr<fl::InteractionData> data_;
  std::unique_ptr<model::TabularInputs> inputs_;
  std::shared_ptr<model::TabularModel> model_;
  std::unique_ptr<model::FlatParameters> parameters_;
  std::unique_ptr<fl::InteractionTraining> training_;
};

}  // namespace sotto::recipes
