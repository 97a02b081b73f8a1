// DP-FedRec, PrivateRec's baseline.
// paper: each user uploads its gradient, clipped to an L2 norm, with Laplace noise on every coordinate;
// queries are user vectors treated the same way (VDP). Laplace noise needs the L1 norm, so what holds is √d
// times the claim, printed beside it. sound: the same model and rounds under user-level distributed noise
// (the shared path, not Laplace); queries are calibrated to the L1 sensitivity.

#include "recipes/dp_fedrec.h"

#include "model/news/news_recommender.h"
#include "recipes/dp_fedrec_settings.h"
#include "recipes/sound_rounds.h"

namespace sotto {
namespace {

class DpFedRec final : public Recipe {
 public:
  void bind(SettingsTable& table) override {
    engine_.bind(table);
    federated_.bind(table);
    optimiser_.bind(table);
    private_.bind(table);
    noise_.bind(table);
    news_.bind_with_choice(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, prepare(request));
    SOTTO_TRY(auto sampler, CohortSampler::create(run.data().users, federated_.cohort, request.seed));
    const auto vector_size =
        static_cast<std::uint64_t>(dynamic_cast<NewsRecommender&>(run.model()).vector_size());
    if (federated_.mode == "paper") {
      FederatedSource source(federated_, std::move(sampler), noise_.printed_upload(request.seed),
                             run.training());
      SOTTO_TRY(auto outcome, run.train(source, optimiser_, engine_));
      SOTTO_TRY(outcome.privacy, noise_.as_printed(run.dimension(), vector_size, engine_.rounds));
      return outcome;
    }
    SOTTO_TRY(auto rounds, SoundRounds::begin(private_, run, std::move(sampler), engine_, request));
    SOTTO_TRY(auto outcome, run.train(rounds.source(), optimiser_, engine_));
    SOTTO_TRY(outcome.privacy, noise_.beside(rounds.datasheet("dp-fedrec"), vector_size));
    return outcome;
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, prepare(request));
    return run.evaluate_best();
  }

 private:
  Result<NewsRun> prepare(const RunRequest& request) {
    SOTTO_CHECK(check_federated(news_));
    SOTTO_TRY(news_.wrap, noise_.around_a_model(federated_.mode, request.seed));
    return NewsRun::prepare(news_, request);
  }

  EngineSettings engine_;
  FederatedSettings federated_;
  OptimiserSettings optimiser_;
  PrivateTrainingSettings private_;
  DpFedRecSettings noise_;
  NewsSettings news_ = NewsSettings::private_nrms();
};

}  // namespace

std::unique_ptr<Recipe> make_dp_fedrec() { return std::make_unique<DpFedRec>(); }

}  // namespace sotto
