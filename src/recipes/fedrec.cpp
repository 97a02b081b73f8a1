// FedNewsRec (Qi et al. 2020) without noise: every round a cohort of users computes the gradient of the model
// on its own clicks; the server averages and takes one step. Only gradients leave a device. No DP. Any
// two-tower model without vectors of users takes FedNewsRec's place.

#include "recipes/fedrec.h"

#include "recipes/news_run.h"

namespace sotto {
namespace {

class FedRec final : public Recipe {
 public:
  explicit FedRec(std::string model) { news_.model = std::move(model); }

  void bind(SettingsTable& table) override {
    engine_.bind(table);
    federated_.bind(table);
    if (news_.model == "plm-nr") optimiser_.learning_rate = 1e-4;  // pre-trained weights need small steps
    optimiser_.bind(table);
    news_.shape.train_words = true;
    news_.bind_with_choice(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_CHECK(check_federated(news_));
    SOTTO_TRY(auto run, NewsRun::prepare(news_, request));
    SOTTO_TRY(auto sampler, CohortSampler::create(run.data().users, federated_.cohort, request.seed));
    FederatedSource source(federated_, std::move(sampler), make_transforms(federated_), run.training());
    return run.train(source, optimiser_, engine_);
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, NewsRun::prepare(news_, request));
    return run.evaluate_best();
  }

 private:
  EngineSettings engine_;
  FederatedSettings federated_;
  OptimiserSettings optimiser_;
  NewsSettings news_;
};

}  // namespace

std::unique_ptr<Recipe> make_fedrec(std::string model) { return std::make_unique<FedRec>(std::move(model)); }

}  // namespace sotto
