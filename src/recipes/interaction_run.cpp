#include "recipes/interaction_run.h"

#include "recipes/last_round.h"

namespace sotto {

void InteractionRunSettings::bind(SettingsTable& table) {
  table
      .add_choice("inputs", inputs, {"rich", "ids", "paper", "leaking"},
                  "What the model reads: rich: what the device remembers, item vectors and features; ids: "
                  "without features; paper: features alone; leaking: also cnt, the answer (Frappe)")
      .add("cohort", cohort, {1, 10000000}, "Users per round (M)")
      .add("tuning_epochs", tuning_epochs, {0, 10000},
           "Epochs of fine-tuning on a test user's device before it is evaluated")
      .add("tuning_rate", tuning_rate, {1e-9, 1e6}, "Step size of fine-tuning");
  data.bind(table);
  shape.bind(table);
  tasks.bind(table);
  copies.bind(table);
}

Result<InteractionRun> InteractionRun::prepare(const InteractionRunSettings& settings,
                                               const RunRequest& request, MetaLearning method) {
  InteractionRun run(settings, request);
  SOTTO_TRY(const auto device, request.compute_device());
  SOTTO_TRY(auto data, prepare_interactions(request.dataset, settings.data, request.seed));
  run.data_ = std::make_unique<InteractionData>(std::move(data));
  SOTTO_TRY(auto inputs, build_tabular_inputs(request.dataset, input_choice(settings.inputs)));
  run.inputs_ = std::make_unique<TabularInputs>(std::move(inputs));
  SOTTO_TRY(auto tasks, InteractionTasks::create(request.dataset, *run.data_, *run.inputs_, settings.tasks,
                                                 request.seed));
  torch::manual_seed(request.seed);
  run.model_ = std::make_shared<TabularModel>(settings.shape, *run.inputs_);
  run.model_->to(device);
  run.parameters_ = std::make_unique<FlatParameters>(*run.model_);
  run.training_ = std::make_unique<InteractionTraining>(
      *run.data_, *run.inputs_, std::move(tasks), *run.model_, *run.parameters_, settings.copies, method);
  return run;
}

Result<CohortSampler> InteractionRun::sampler() const {
  return CohortSampler::create(data_->users, settings_.cohort, request_.seed);
}

TestMetrics InteractionRun::measure() const {
  return request_.evaluate_held_out(request_.dataset, *data_, [this](const TakeScores& take) {
    training_->score_test_users(settings_.tuning_epochs, settings_.tuning_rate, take);
  });
}

Result<TrainOutcome> InteractionRun::train(UpdateSource& source, const OptimiserSettings& optimiser,
                                           const EngineSettings& engine) {
  SOTTO_TRY(auto outcome, train_to_last_round(request_, *parameters_, source, optimiser, engine,
                                              [this] { return measure(); }));
  outcome.training_users = data_->users.size();
  outcome.training_samples = data_->row_count();
  return outcome;
}

Result<TrainOutcome> InteractionRun::train_soundly(const PrivateTrainingSettings& budget,
                                                   CohortSampler sampler, const OptimiserSettings& optimiser,
                                                   const EngineSettings& engine, const std::string& recipe) {
  const auto shape = TrainingShape::of(dimension(), sampler, engine.rounds);
  SOTTO_TRY(auto rounds, SoundRounds::begin(budget, shape, request_.run));
  SOTTO_TRY(auto* source,
            rounds.of_whole_model(parameters_->values(), *training_, std::move(sampler), request_.seed));
  SOTTO_TRY(auto outcome, train(*source, optimiser, engine));
  outcome.privacy = rounds.datasheet(recipe);
  return outcome;
}

Result<TestMetrics> InteractionRun::evaluate_best() {
  return measure_last_round(request_, *parameters_, [this] { return measure(); });
}

}  // namespace sotto
