#pragma once
// What PrivRec and the systems it compares with share: a model over interactions, a cohort of users per
// round, Adam on the server. A recipe is the settings it starts from and how its users learn. No DP.

#include "fl/interaction_source.h"
#include "recipes/interaction_run.h"

namespace sotto {

class InteractionRecipe : public Recipe {
 public:
  void bind(SettingsTable& table) final {
    engine_.rounds = 1500;
    engine_.bind(table);
    optimiser_.optimiser = "adam";
    optimiser_.learning_rate = 0.003;
    optimiser_.bind(table);
    settings_.bind(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) final {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request, learning_));
    SOTTO_TRY(auto sampler, run.sampler());
    InteractionSource source(std::move(sampler), run.training());
    return run.train(source, optimiser_, engine_);
  }

  Result<TestMetrics> evaluate(const RunRequest& request) final {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request, learning_));
    return run.evaluate_best();
  }

 protected:
  InteractionRecipe(InteractionRunSettings start, MetaLearning learning)
      : settings_(std::move(start)), learning_(learning) {}

 private:
  EngineSettings engine_;
  OptimiserSettings optimiser_;
  InteractionRunSettings settings_;
  MetaLearning learning_;
};

}  // namespace sotto
