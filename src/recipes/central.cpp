// A news model trained on everybody's clicks in one place, by Adam on batches of clicks. The upper marks for
// the federated recipes (with fednewsrec it is FedNewsRec's CenNewsRec) and the baselines of their tables;
// nothing is private.

#include "fl/central_source.h"
#include "recipes/news_run.h"
#include "recipes/table.h"

namespace sotto::recipes {
namespace {

class Central final : public NewsRecipe {
 public:
  Central() : NewsRecipe({}) {}

  void bind(SettingsTable& table) override {
    engine_.bind(table);
    table.add("batch", batch_, {1, 1000000}, "Clicks per step")
        .add("gradient_clip", gradient_clip_, {0.0, 1e9},
             "L2 norm that a step's gradient is cut to; 0: not at all");
    optimiser_.optimiser = "adam";
    optimiser_.beta2 = 0.999;
    if (news_.model == "plm-nr") optimiser_.learning_rate = 1e-4;  // pre-trained weights need small steps
    optimiser_.bind(table);
    news_.shape.train_words = true;
    news_.bind_with_choice(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, prepare(request));
    fl::CentralSource source(run.data(), run.training(), batch_, gradient_clip_, request.seed);
    return run.train(source, optimiser_, engine_);
  }

 private:
  std::int64_t batch_ = 128;
  double gradient_clip_ = 0;
  fl::OptimiserSettings optimiser_;
};

}  // namespace

std::unique_ptr<Recipe> make_central() { return std::make_unique<Central>(); }

}  // namespace sotto::recipes
