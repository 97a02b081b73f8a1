// PrivRec (Wang et al. 2021) and the systems its paper compares with. They share a model over interactions
// and a cohort of users per round, and differ in where they start and how users learn. No DP.
//
// privrec      every round M devices train a copy of the model on their own rows (REPTILE, held to the global
//              model by a proximal term) and return Δ = θ_τ − θ0; θ0 ← θ0 + α3 · mean Δ. A user who asks for
//              recommendations fine-tunes on the device. variant=fedsgd: one step per device and round and
//              Adam on the server, nothing tuned, which is federated SGD and no meta-learning.
// nn-self      Chen et al. 2018: MAML with its second-order term. Every device cuts its rows in two, takes
//              one step on the first half and returns the gradient of the loss on the second half through
//              that step. A test user's device takes that step before it is asked. Model and inputs are
//              PrivRec's.
// fofl-self    Jalalirad et al. 2019: REPTILE without side information. The model knows items by vectors of
//              their own and users by what their device remembers; nothing is held to the global model.
// privrec-cen  PrivRec's model trained in one place, every user a task: a step takes the gradient of all rows
//              of a batch of users at the shared parameters, without copies and local steps. Collects all.
//
// What the default inputs add to the paper (item vectors, what the device remembers) and sampled negatives
// are settings: inputs=paper and labels=ratings are as printed.

#include "fl/plain_means.h"
#include "recipes/interaction_run.h"
#include "recipes/table.h"

namespace sotto::recipes {
namespace {

// How the clipping bound of a campaign follows the devices' differences.
constexpr fl::BoundRule followed{.initial = 1, .smallest = 1e-6, .quantile = 0.5, .rate = 0.2};

enum class System { privrec, nn_self, fofl_self, privrec_cen };

class MetaLearned final : public Recipe {
 public:
  explicit MetaLearned(System system) : system_(system) {}

  void bind(SettingsTable& table) override {
    choose_start();
    engine_.bind(table, false);
    if (is_reptile())
      table.add_choice(
          "variant", variant_, {"reptile", "fedsgd"},
          "reptile: local epochs and fine-tuning, as in the paper; fedsgd: one local step, Adam on "
          "the server, no fine-tuning. Chooses the defaults of the other settings");
    optimiser_.bind(table);
    settings_.bind(table, is_reptile()                 ? UserLearning::reptile
                          : system_ == System::nn_self ? UserLearning::maml
                                                       : UserLearning::gradient);
  }
  std::vector<SettingCondition> conditions() const override {
    return is_reptile() ? settings_.conditions() : std::vector<SettingCondition>();
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request, method()));
    // A campaign's sums are clipped and under noise whatever the recipe says of itself.
    if (request.remote != nullptr) return run.train_remotely(followed, optimiser_, engine_, "privrec");
    SOTTO_TRY(auto sampler, run.sampler());
    fl::PlainMeans source(std::move(sampler), fl::interaction_mean(run.training()));
    return run.train(source, optimiser_, engine_);
  }

  Result<fl::DeviceTask> device_task(const RunRequest& request) override {
    if (system_ != System::privrec) return not_on_devices();
    SOTTO_TRY(const auto run, InteractionRun::prepare(settings_, request, method()));
    SOTTO_TRY(auto task, run.device_task("privrec"));
    task.bound_follows = true;
    return task;
  }

  Result<std::optional<TrainedFactors>> open_factors(const RunRequest& request) override {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request, method()));
    return run.factors_of_best();
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, InteractionRun::prepare(settings_, request, method()));
    return run.evaluate_best();
  }

 private:
  bool is_reptile() const { return system_ == System::privrec || system_ == System::fofl_self; }
  fl::MetaLearning method() const {
    return system_ == System::nn_self ? fl::MetaLearning::maml : fl::MetaLearning::reptile;
  }

  // Where the system starts, by the variant.
  void choose_start() {
    const bool local_epochs = is_reptile() && variant_ == "reptile";
    settings_ = local_epochs ? InteractionRunSettings::reptile() : InteractionRunSettings();
    engine_.rounds = local_epochs ? 100 : 1500;
    optimiser_.optimiser = local_epochs ? "sgd" : "adam";
    optimiser_.learning_rate = local_epochs ? 1 : 0.003;
    if (system_ == System::nn_self) {
      settings_.cohort = 30;
      settings_.tuning_epochs = 1;
      settings_.tuning_rate = settings_.copies.local_learning_rate;  // the step that was trained for
    }
    if (system_ == System::fofl_self) {
      settings_.inputs = "ids";
      settings_.copies.proximal = 0;
    }
    if (system_ == System::privrec_cen) settings_.tasks.local_batch = 100000;
  }

  System system_;
  std::string variant_ = "reptile";
  fl::EngineSettings engine_;
  fl::OptimiserSettings optimiser_;
  InteractionRunSettings settings_;
};

}  // namespace

std::unique_ptr<Recipe> make_privrec() { return std::make_unique<MetaLearned>(System::privrec); }
std::unique_ptr<Recipe> make_nn_self() { return std::make_unique<MetaLearned>(System::nn_self); }
std::unique_ptr<Recipe> make_fofl_self() { return std::make_unique<MetaLearned>(System::fofl_self); }
std::unique_ptr<Recipe> make_privrec_cen() { return std::make_unique<MetaLearned>(System::privrec_cen); }

}  // namespace sotto::recipes
