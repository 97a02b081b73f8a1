// PrivRec-CEN: PrivRec's model trained in one place, every user a task. A step takes the gradient of all rows
// of a batch of users at the shared parameters; there are no copies and no local steps. Collects all data.

#include "recipes/privrec_cen.h"

#include "fl/interaction_source.h"
#include "recipes/interaction_run.h"

namespace sotto {
namespace {

class PrivRecCen final : public Recipe {
 public:
  void bind(SettingsTable& table) override {
    engine_.rounds = 1500;
    engine_.bind(table);
    optimiser_.optimiser = "adam";
    optimiser_.learning_rate = 0.003;
    optimiser_.bind(table);
    settings_.tasks.local_batch = 100000;
    settings_.copies.local_learning_rate = 1;
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

std::unique_ptr<Recipe> make_privrec_cen() { return std::make_unique<PrivRecCen>(); }

}  // namespace sotto
