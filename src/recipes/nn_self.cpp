// NN-SELF (Chen et al. 2018, as PrivRec compares with it): MAML with its second-order term. Every device cuts
// its rows in two, takes one step on the first half and returns the gradient of the loss on the second half
// through that step. The model and its inputs are PrivRec's. No DP.

#include "recipes/nn_self.h"

#include "fl/interaction_source.h"
#include "recipes/interaction_run.h"

namespace sotto {
namespace {

class NnSelf final : public Recipe {
 public:
  void bind(SettingsTable& table) override {
    engine_.rounds = 1500;
    engine_.bind(table);
    optimiser_.optimiser = "adam";
    optimiser_.learning_rate = 0.003;
    optimiser_.bind(table);
    settings_.bind(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request, MetaLearning::maml));
    SOTTO_TRY(auto sampler, run.sampler());
    InteractionSource source(std::move(sampler), run.training());
    return run.train(source, optimiser_, engine_);
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request, MetaLearning::maml));
    return run.evaluate_best();
  }

 private:
  EngineSettings engine_;
  OptimiserSettings optimiser_;
  InteractionRunSettings settings_;
};

}  // namespace

std::unique_ptr<Recipe> make_nn_self() { return std::make_unique<NnSelf>(); }

}  // namespace sotto
