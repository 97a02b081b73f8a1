// Efficient-FedRec (Yi et al. 2021): the news model stays on the server, devices train the user model on the
// vectors of their group's items. Secure sums of items and of gradients; FedAdam on the user model, Adam on
// the news model by back-propagating the vectors' gradients.
// paper: sums without noise. sound: the whole catalogue's vectors are sent and returned, so that which items
// a device holds shows nowhere, and the sum carries user-level distributed noise.

#include "recipes/efficient_fedrec.h"

#include "fl/efficient_source.h"
#include "fl/split_optimiser.h"
#include "fl/split_private_source.h"
#include "recipes/news_run.h"
#include "recipes/plain_sums.h"
#include "recipes/private_training.h"

namespace sotto {
namespace {

class EfficientFedRec final : public Recipe {
 public:
  void bind(SettingsTable& table) override {
    engine_.bind(table);
    table.add_choice("mode", mode_, {"sound", "paper"},
                     "paper: secure sums without noise; sound: user-level DP");
    efficient_.bind(table);
    user_.bind(table);
    table.add("news_learning_rate", news_.learning_rate, {1e-9, 1000.0},
              "Step size of Adam on the news model");
    private_.bind(table);
    model_.bind_with_choice(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_CHECK(check_federated(model_));
    SOTTO_TRY(auto run, NewsRun::prepare(model_, request));
    SOTTO_TRY(auto split, SplitTraining::create(run.training(), run.model()));
    SOTTO_TRY(auto sampler, CohortSampler::create(run.data().users, efficient_.group, request.seed));
    const std::uint64_t catalogue = request.dataset.catalogue().size();
    const auto first = static_cast<std::int64_t>(run.dimension()) - split.user_size();
    news_.optimiser = "adam";
    SOTTO_TRY(auto news, make_optimiser(news_, run.parameters().values().slice(0, 0, first)));
    SOTTO_TRY(auto user, make_optimiser(user_, split.user_encoder()));
    SplitOptimiser optimiser(std::move(news), std::move(user), first);
    if (mode_ == "paper") {
      EfficientSource source(efficient_, std::move(sampler), split, catalogue, request.seed);
      SOTTO_TRY(auto outcome, run.train(source, optimiser, engine_));
      outcome.privacy = plain_sums_datasheet(efficient_.group);
      return outcome;
    }
    const auto shape =
        TrainingShape::of(split.dimension(catalogue), sampler.population(), efficient_.group, engine_.rounds);
    SOTTO_TRY(const auto plan, PrivateTraining::begin(private_, shape, model_.data, request.run));
    SplitPrivateSource source(plan.plan, std::move(sampler), plan.participations(), split, catalogue,
                              request.seed);
    SOTTO_TRY(auto outcome, run.train(source, optimiser, engine_));
    outcome.privacy = datasheet_of(plan, "efficient-fedrec");
    return outcome;
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, NewsRun::prepare(model_, request));
    return run.evaluate_best();
  }

 private:
  EngineSettings engine_;
  std::string mode_ = "sound";
  EfficientSettings efficient_;
  OptimiserSettings user_, news_;
  PrivateTrainingSettings private_;
  NewsSettings model_ = NewsSettings::private_nrms();
};

}  // namespace

std::unique_ptr<Recipe> make_efficient_fedrec() { return std::make_unique<EfficientFedRec>(); }

}  // namespace sotto
