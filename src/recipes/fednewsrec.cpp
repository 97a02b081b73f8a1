// FedNewsRec (Qi et al. 2020).
// paper: each user uploads clip(g, δ) + Laplace(λ) per coordinate; the server takes the |B_u|-weighted mean
// and one SGD step. Claimed ε = 2δ/λ is per coordinate; what really holds is printed beside it. sound: the
// same model and rounds; updates are clipped as one vector and summed with distributed noise.

#include "recipes/fednewsrec.h"

#include "privacy/mechanisms/elementwise_laplace.h"
#include "recipes/sound_rounds.h"

namespace sotto {
namespace {

class FedNewsRec final : public Recipe {
 public:
  void bind(SettingsTable& table) override {
    engine_.bind(table);
    federated_.bind(table);
    optimiser_.optimiser = "sgd";
    optimiser_.learning_rate = 0.5;
    optimiser_.bind(table);
    private_.bind(table);
    table.add("element_clip", element_clip_, {1e-12, 1e6}, "paper mode: delta, each coordinate's bound")
        .add("laplace", laplace_, {1e-12, 1e6}, "paper mode: lambda, scale of the noise on each coordinate");
    news_.data.validation_impressions = 0;
    news_.bind(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, NewsRun::prepare(news_, request));
    SOTTO_TRY(auto sampler, CohortSampler::create(run.data().users, federated_.cohort, request.seed));
    return federated_.mode == "paper" ? as_printed(run, std::move(sampler), request)
                                      : soundly(run, std::move(sampler), request);
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, NewsRun::prepare(news_, request));
    return run.evaluate_best();
  }

 private:
  Result<TrainOutcome> as_printed(NewsRun& run, CohortSampler sampler, const RunRequest& request) {
    UpdateTransforms transforms;
    transforms.push_back(std::make_unique<ElementwiseLaplaceNoise>(element_clip_, laplace_, request.seed));
    FederatedSource source(federated_, std::move(sampler), std::move(transforms), run.training());
    SOTTO_TRY(auto outcome, run.train(source, optimiser_, engine_));
    SOTTO_TRY(outcome.privacy,
              elementwise_datasheet({element_clip_, laplace_, run.dimension()}, engine_.rounds));
    return outcome;
  }

  Result<TrainOutcome> soundly(NewsRun& run, CohortSampler sampler, const RunRequest& request) {
    SOTTO_TRY(auto rounds, SoundRounds::begin(private_, run, std::move(sampler), engine_, request));
    SOTTO_TRY(auto outcome, run.train(rounds.source(), optimiser_, engine_));
    outcome.privacy = rounds.datasheet("fednewsrec");
    return outcome;
  }

  EngineSettings engine_;
  FederatedSettings federated_;
  OptimiserSettings optimiser_;
  PrivateTrainingSettings private_;
  double element_clip_ = 0.005, laplace_ = 0.015;
  NewsSettings news_;
};

}  // namespace

std::unique_ptr<Recipe> make_fednewsrec() { return std::make_unique<FedNewsRec>(); }

}  // namespace sotto
