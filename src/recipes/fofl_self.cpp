// FOFL-SELF (Jalalirad et al. 2019, as PrivRec compares with it): REPTILE without side information. The model
// knows items by vectors of their own and users by what their device remembers; nothing is held to the global
// model. No DP.

#include "recipes/fofl_self.h"

#include "fl/interaction_source.h"
#include "recipes/interaction_run.h"

namespace sotto {
namespace {

class FoflSelf final : public Recipe {
 public:
  void bind(SettingsTable& table) override {
    engine_.rounds = 1500;
    engine_.bind(table);
    optimiser_.optimiser = "adam";
    optimiser_.learning_rate = 0.003;
    optimiser_.bind(table);
    settings_.inputs = "ids";
    settings_.copies.proximal = 0;
    settings_.bind(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request));
    SOTTO_TRY(auto sampler, run.sampler());
    InteractionSource source(std::move(sampler), run.training());
    return run.train(source, optimiser_, engine_);
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request));
    return run.evaluate_best();
  }

 private:
  EngineSettings engine_;
  OptimiserSettings optimiser_;
  InteractionRunSettings settings_;
};

}  // namespace

std::unique_ptr<Recipe> make_fofl_self() { return std::make_unique<FoflSelf>(); }

}  // namespace sotto
