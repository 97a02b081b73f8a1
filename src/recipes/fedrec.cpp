// FedNewsRec (Qi et al. 2020) without noise: every round a cohort of users computes the gradient of the model
// on its own clicks; the server averages and takes one step. Only gradients leave a device. No DP. Any
// two-tower model without vectors of users takes FedNewsRec's place; with plm-nr every device holds, and
// sends, the layers of BERT that learn.

#include "recipes/news_run.h"
#include "recipes/table.h"

namespace sotto::recipes {
namespace {

class FedRec final : public NewsRecipe {
 public:
  FedRec() : NewsRecipe({}) {}

  void bind(SettingsTable& table) override {
    engine_.bind(table);
    federated_.bind(table);
    federated_.bind_clipping(table);
    if (news_.model == "plm-nr") optimiser_.learning_rate = 1e-4;  // pre-trained weights need small steps
    optimiser_.bind(table);
    news_.shape.train_words = true;
    news_.bind_with_choice(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_CHECK(check_federated(news_));
    SOTTO_TRY(auto run, prepare(request));
    SOTTO_TRY(auto sampler, fl::CohortSampler::create(run.data().users, federated_.cohort, request.seed));
    fl::PlainMeans source(std::move(sampler),
                          fl::news_mean(federated_, fl::make_transforms(federated_), run.training()));
    return run.train(source, optimiser_, engine_);
  }

 private:
  fl::FederatedSettings federated_;
  fl::OptimiserSettings optimiser_;
};

}  // namespace

std::unique_ptr<Recipe> make_fedrec() { return std::make_unique<FedRec>(); }

}  // namespace sotto::recipes
