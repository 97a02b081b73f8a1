// Item vectors from two private sums. Every device once sends its items as a vector of length 1; the server
// chooses the items with the largest noisy counts. Every device once sends which of these it likes together;
// eigenvectors of the noisy sum that stand out of the noise are the items' vectors. Devices rank by them.
// Two releases in all: noise is paid for twice, not once per round of a training. noise=none: without it.

#include "recipes/dp_svd.h"

#include "recipes/compute_device.h"
#include "recipes/dp_svd_settings.h"
#include "recipes/last_round.h"

namespace sotto {
namespace {

class DpSvd final : public Recipe {
 public:
  void bind(SettingsTable& table) override {
    engine_.rounds = 2;
    engine_.checkpoint_every = 1;
    engine_.bind(table);
    settings_.bind(table);
    optimiser_.optimiser = "fedavg";  // a round sets what it brings
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_CHECK(settings_.check(engine_.rounds));
    SOTTO_TRY(const auto data, prepare_interactions(request.dataset, settings_.data, request.seed));
    SOTTO_TRY(const auto model, make_model(request));
    const SumsShape shape = settings_.shape(request.dataset, data);
    std::optional<TwoPrivateSums> sums;
    if (settings_.noise != "none") {
      SOTTO_TRY(sums, TwoPrivateSums::calibrate(settings_.budget, shape));
      SOTTO_CHECK(save_plan(sums->accounted, request.run / "privacy.toml"));
    }
    SOTTO_TRY(auto plans,
              sums ? Result<PairPlans>(sums->plans) : sums_without_noise(settings_.budget, shape));
    FlatParameters parameters(*model);
    PairSource source(request.dataset, data, *model, std::move(plans), settings_.spectrum(data.users.size()),
                      request.seed, settings_.features_of(request.dataset));
    SOTTO_TRY(auto outcome, train_to_last_round(request, parameters, source, optimiser_, engine_,
                                                [&] { return measure(request, data, *model); }));
    outcome.training_users = data.users.size();
    outcome.training_samples = data.row_count();
    if (sums) outcome.privacy = datasheet_of(*sums, "dp-svd");
    return outcome;
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(const auto data, prepare_interactions(request.dataset, settings_.data, request.seed));
    SOTTO_TRY(const auto model, make_model(request));
    FlatParameters parameters(*model);
    return measure_last_round(request, parameters, [&] { return measure(request, data, *model); });
  }

 private:
  Result<std::shared_ptr<ItemVectors>> make_model(const RunRequest& request) const {
    SOTTO_TRY(const auto device, compute_device(request.device));
    const auto items = static_cast<std::int64_t>(request.dataset.item_count());
    auto model = std::make_shared<ItemVectors>(items, settings_.vectors);
    model->to(device);
    return model;
  }

  TestMetrics measure(const RunRequest& request, const InteractionData& data,
                      const ItemVectors& model) const {
    return request.evaluate_held_out(request.dataset, data, [&](const TakeScores& take) {
      score_test_users(request.dataset, data, model, settings_.ranking(data.users.size()), take);
    });
  }

  EngineSettings engine_;
  DpSvdSettings settings_;
  OptimiserSettings optimiser_;
};

}  // namespace

std::unique_ptr<Recipe> make_dp_svd() { return std::make_unique<DpSvd>(); }

}  // namespace sotto
