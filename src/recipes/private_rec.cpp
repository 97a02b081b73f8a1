// PrivateRec: a reader is a mixture of B public basis vectors; a device sends the mixture's weights, padded,
// clipped and noised, to train (epsilon_t) and to ask (epsilon_s, or from public categories for nothing).
// paper: noise inside the training pass, permuted labels, FedAdam on plain gradients, the paper's
// sensitivity. sound: trained under user-level distributed noise; queries use the sensitivity that holds.

#include "recipes/private_rec.h"

#include "recipes/open_queries.h"
#include "recipes/private_labels.h"
#include "recipes/private_rec_settings.h"
#include "recipes/sound_rounds.h"

namespace sotto {
namespace {

class PrivateRec final : public Recipe {
 public:
  void bind(SettingsTable& table) override {
    engine_.bind(table);
    federated_.bind(table);
    optimiser_.bind(table);
    private_.bind(table);
    attention_.bind(table);
    open_.bind(table);
    news_.bind_with_choice(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, prepare(request));
    SOTTO_TRY(auto sampler, CohortSampler::create(run.data().users, federated_.cohort, request.seed));
    if (federated_.mode == "paper") {
      if (attention_.training_epsilon > 0) {
        SOTTO_TRY(auto labels, permuted_labels(attention_.training_epsilon, news_.data.negatives));
        run.training().choose_candidates(std::move(labels));
      }
      FederatedSource source(federated_, std::move(sampler), {}, run.training());
      SOTTO_TRY(auto outcome, run.train(source, optimiser_, engine_));
      SOTTO_TRY(outcome.privacy, attention_.as_printed());
      return open_.finish(run, std::move(outcome), request, news_.data.max_history);
    }
    SOTTO_TRY(auto rounds, SoundRounds::begin(private_, run, std::move(sampler), engine_, request));
    SOTTO_TRY(auto outcome, run.train(rounds.source(), optimiser_, engine_));
    SOTTO_TRY(outcome.privacy, attention_.beside(rounds.datasheet("privaterec")));
    return open_.finish(run, std::move(outcome), request, news_.data.max_history);
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, prepare(request));
    return open_.evaluate(run, request, news_.data.max_history);
  }

 private:
  Result<NewsRun> prepare(const RunRequest& request) {
    SOTTO_CHECK(check_federated(news_));
    SOTTO_CHECK(open_.check(request.dataset, attention_.serving_epsilon));
    SOTTO_TRY(news_.wrap, attention_.around_a_model(federated_.mode, request.seed));
    SOTTO_TRY(auto run, NewsRun::prepare(news_, request));
    SOTTO_CHECK(attention_.check_basis(run.model()));
    return run;
  }

  EngineSettings engine_;
  FederatedSettings federated_;
  OptimiserSettings optimiser_;
  PrivateTrainingSettings private_;
  PrivateRecSettings attention_;
  OpenQueries open_;
  NewsSettings news_ = NewsSettings::private_nrms();
};

}  // namespace

std::unique_ptr<Recipe> make_private_rec() { return std::make_unique<PrivateRec>(); }

}  // namespace sotto
