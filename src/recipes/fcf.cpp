// FCF (Ammad-ud-din et al. 2019): federated matrix factorisation for implicit feedback. Item factors are
// global; each device solves for its own factors and returns the gradient of its error in the item factors.
// No DP.

#include "recipes/fcf.h"

#include "fl/factorisation_training.h"
#include "recipes/compute_device.h"
#include "recipes/interaction_run.h"

namespace sotto {
namespace {

class Fcf final : public Recipe {
 public:
  void bind(SettingsTable& table) override {
    engine_.rounds = 500;
    engine_.bind(table);
    optimiser_.optimiser = "adam";
    optimiser_.learning_rate = 0.01;
    optimiser_.bind(table);
    table.add("cohort", cohort_, {1, 10000000}, "Users per round");
    data_.bind(table);
    factors_.bind(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(const auto data, prepare_interactions(request.dataset, data_, request.seed));
    SOTTO_TRY(auto sampler, CohortSampler::create(data.users, cohort_, request.seed));
    SOTTO_TRY(const auto model, make_model(request));
    FlatParameters parameters(*model);
    FactorisationSource source(request.dataset, data, std::move(sampler), *model, factors_);
    return train_on_interactions(request, data, parameters, source, optimiser_, engine_,
                                 scoring(request.dataset, data, *model));
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(const auto data, prepare_interactions(request.dataset, data_, request.seed));
    SOTTO_TRY(const auto model, make_model(request));
    FlatParameters parameters(*model);
    return evaluate_on_interactions(request, data, parameters, scoring(request.dataset, data, *model));
  }

 private:
  Result<std::shared_ptr<FactorModel>> make_model(const RunRequest& request) const {
    SOTTO_TRY(const auto device, compute_device(request.device));
    torch::manual_seed(request.seed);
    auto model =
        std::make_shared<FactorModel>(static_cast<std::int64_t>(request.dataset.item_count()), factors_);
    model->to(device);
    return model;
  }

  ScoreTestUsers scoring(const Dataset& dataset, const InteractionData& data,
                         const FactorModel& model) const {
    return [&, this](const TakeScores& take) { score_test_users(dataset, data, model, factors_, take); };
  }

  std::int64_t cohort_ = 100;
  EngineSettings engine_;
  OptimiserSettings optimiser_;
  InteractionSettings data_;
  FactorisationSettings factors_;
};

}  // namespace

std::unique_ptr<Recipe> make_fcf() { return std::make_unique<Fcf>(); }

}  // namespace sotto
