// PrivRec (Wang et al. 2021) and the systems its paper compares with. They share a model over interactions, a
// cohort of users per round and Adam on the server, and differ in where they start and how users learn. No
// DP.
//
// privrec      every round M devices train a copy of the model on their own rows (REPTILE, held to the global
//              model by a proximal term) and return Δ = θ_τ − θ0; θ0 ← θ0 + α3 · mean Δ. A user who asks for
//              recommendations fine-tunes on the device.
// nn-self      Chen et al. 2018: MAML with its second-order term. Every device cuts its rows in two, takes
// one
//              step on the first half and returns the gradient of the loss on the second half through that
//              step. Model and inputs are PrivRec's.
// fofl-self    Jalalirad et al. 2019: REPTILE without side information. The model knows items by vectors of
//              their own and users by what their device remembers; nothing is held to the global model.
// privrec-cen  PrivRec's model trained in one place, every user a task: a step takes the gradient of all rows
//              of a batch of users at the shared parameters, without copies and local steps. Collects all.

#include "fl/plain_means.h"
#include "recipes/interaction_run.h"
#include "recipes/table.h"

namespace sotto::recipes {
namespace {

class MetaLearned final : public Recipe {
 public:
  MetaLearned(InteractionRunSettings start, fl::MetaLearning learning)
      : settings_(std::move(start)), learning_(learning) {}

  void bind(SettingsTable& table) override {
    engine_.rounds = 1500;
    engine_.bind(table);
    optimiser_.optimiser = "adam";
    optimiser_.learning_rate = 0.003;
    optimiser_.bind(table);
    settings_.bind(table);
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request, learning_));
    SOTTO_TRY(auto sampler, run.sampler());
    fl::PlainMeans source(std::move(sampler), fl::interaction_mean(run.training()));
    return run.train(source, optimiser_, engine_);
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request, learning_));
    return run.evaluate_best();
  }

 private:
  fl::EngineSettings engine_;
  fl::OptimiserSettings optimiser_;
  InteractionRunSettings settings_;
  fl::MetaLearning learning_;
};

}  // namespace

std::unique_ptr<Recipe> make_privrec() {
  return std::make_unique<MetaLearned>(InteractionRunSettings(), fl::MetaLearning::reptile);
}

std::unique_ptr<Recipe> make_nn_self() {
  return std::make_unique<MetaLearned>(InteractionRunSettings(), fl::MetaLearning::maml);
}

std::unique_ptr<Recipe> make_fofl_self() {
  InteractionRunSettings start;
  start.inputs = "ids";
  start.copies.proximal = 0;
  return std::make_unique<MetaLearned>(std::move(start), fl::MetaLearning::reptile);
}

std::unique_ptr<Recipe> make_privrec_cen() {
  InteractionRunSettings start;
  start.tasks.local_batch = 100000;
  start.copies.local_learning_rate = 1;
  return std::make_unique<MetaLearned>(std::move(start), fl::MetaLearning::reptile);
}

}  // namespace sotto::recipes
