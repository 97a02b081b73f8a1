// FCF (Ammad-ud-din et al. 2019): federated matrix factorisation for implicit feedback. Item factors are
// global; each device solves for its own factors and returns the gradient of its error in the item factors.
// Reads which items a user liked, in interactions or in impressions, and nothing about the items. No DP.

#include "recipes/fcf.h"

#include "recipes/factorisation_run.h"

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
    settings_.bind(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, FactorisationRun::prepare(settings_, request));
    SOTTO_TRY(auto sampler, run.sampler());
    FactorisationSource source(run.devices(), std::move(sampler), run.model());
    return run.train(source, optimiser_, engine_);
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, FactorisationRun::prepare(settings_, request));
    return run.evaluate_last();
  }

 private:
  EngineSettings engine_;
  OptimiserSettings optimiser_;
  FactorisationRunSettings settings_;
};

}  // namespace

std::unique_ptr<Recipe> make_fcf() { return std::make_unique<Fcf>(); }

}  // namespace sotto
