// PrivRec (Wang et al. 2021): every round M devices train a copy of the model on their own rows (REPTILE,
// held to the global model by a proximal term) and return Δ = θ_τ − θ0; θ0 ← θ0 + α3 · mean Δ. A user who
// asks for recommendations fine-tunes on the device. No DP.

#include "recipes/privrec.h"

#include "fl/interaction_source.h"
#include "recipes/interaction_run.h"

namespace sotto {
namespace {

class PrivRec final : public Recipe {
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

std::unique_ptr<Recipe> make_privrec() { return std::make_unique<PrivRec>(); }

}  // namespace sotto
