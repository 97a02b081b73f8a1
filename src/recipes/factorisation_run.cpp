#include "recipes/factorisation_run.h"

#include "recipes/compute_device.h"
#include "recipes/last_round.h"

namespace sotto {

void FactorisationRunSettings::bind(SettingsTable& table) {
  table.add("cohort", cohort, {1, 10000000}, "Users per round");
  interactions.bind(table);
  table
      .add("max_history", impressions.max_history, {1, 10000},
           "Impressions: most recent clicks of a history that a test device solves from")
      .add("user_share", impressions.user_share, {1e-6, 1.0}, "Impressions: share of the users who train");
  factors.bind(table);
}

Status FactorisationRun::choose_devices() {
  const Dataset& dataset = request_.dataset;
  if (dataset.has_interactions()) {
    SOTTO_TRY(interactions_, prepare_interactions(dataset, settings_.interactions, request_.seed));
    devices_ = positives_of(dataset, *interactions_);
    return {};
  }
  if (!dataset.has_impressions())
    return bad_input("{} has neither interactions nor impressions: nothing can be learned from it",
                     dataset.name());
  SOTTO_TRY(auto data, prepare_training_data(dataset, settings_.impressions, request_.seed));
  devices_ = positives_of(dataset, data.users);
  test_impressions_ = std::move(data.test);
  return {};
}

Result<FactorisationRun> FactorisationRun::prepare(const FactorisationRunSettings& settings,
                                                   const RunRequest& request) {
  FactorisationRun run(settings, request);
  SOTTO_TRY(const auto device, compute_device(request.device));
  SOTTO_CHECK(run.choose_devices());
  torch::manual_seed(request.seed);
  run.model_ = std::make_shared<FactorModel>(static_cast<std::int64_t>(request.dataset.item_count()),
                                             settings.factors);
  run.model_->to(device);
  run.parameters_ = std::make_unique<FlatParameters>(*run.model_);
  return run;
}

Result<CohortSampler> FactorisationRun::sampler() const {
  return CohortSampler::create(devices_.users, settings_.cohort, request_.seed);
}

TestMetrics FactorisationRun::measure() {
  if (interactions_)
    return request_.evaluate_held_out(request_.dataset, *interactions_, [&](const TakeScores& take) {
      score_test_users(request_.dataset, *interactions_, *model_, take);
    });
  return request_.evaluate(*model_, request_.dataset, test_impressions_,
                           static_cast<std::size_t>(settings_.impressions.max_history));
}

Result<TrainOutcome> FactorisationRun::train(UpdateSource& source, const OptimiserSettings& optimiser,
                                             const EngineSettings& engine) {
  SOTTO_TRY(auto outcome, train_to_last_round(request_, *parameters_, source, optimiser, engine,
                                              [&] { return measure(); }));
  outcome.training_users = devices_.users.size();
  outcome.training_samples = devices_.count();
  return outcome;
}

Result<TestMetrics> FactorisationRun::evaluate_last() {
  return measure_last_round(request_, *parameters_, [&] { return measure(); });
}

}  // namespace sotto
