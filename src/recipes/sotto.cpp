// The flagship. Items are public: their vectors come from the catalogue's words and cost no privacy. Readers
// train what is left, some two hundred numbers of the user model, under user-level distributed noise; so few
// that the noise hardly matters. The tail of the iterates is averaged, no round is chosen. A device adds a
// vector of its own and ranks by itself, or tells the server which public prototype it resembles.
// noise=none: the same training without clipping and noise, to compare with.

#include <algorithm>

#include "base/log.h"
#include "fl/personal_model.h"
#include "fl/server_optimiser.h"
#include "recipes/news_run.h"
#include "recipes/table.h"

namespace sotto::recipes {
namespace {

// The model as devices use it.
std::shared_ptr<model::RankingModel> with_personal_vectors(std::shared_ptr<model::RankingModel> model) {
  auto towers = std::dynamic_pointer_cast<model::NewsRecommender>(std::move(model));
  TORCH_CHECK(towers, "only a two-tower model has vectors of readers");
  return std::make_shared<fl::PersonalModel>(std::move(towers));
}

class Sotto final : public NewsRecipe {
 public:
  Sotto() : NewsRecipe({}) {}

  void bind(SettingsTable& table) override {
    engine_.rounds = 30;
    engine_.bind(table);
    table.add("cohort", cohort_, {0, 10'000'000}, "Readers per round; 0: half of them, at most 10,000")
        .add_choice("noise", noise_, {"distributed", "none"},
                    "none: no clipping, no noise, no differential privacy")
        .add("serving_epsilon", serving_epsilon_, {0.0, 1e6},
             "epsilon of one answer, for the whole history; 0: nothing is told, the device ranks by itself")
        .add("prototypes", prototypes_, {0, 65536},
             "Public prototypes of interest that an answer names one of");
    personal_.bind(table);
    optimiser_.optimiser = "sgd";  // Adam would make steps as large where there is only noise
    optimiser_.learning_rate = 1;
    optimiser_.momentum = 0.9;
    optimiser_.bind(table);
    private_.bind(table);
    news_.model = "catalogue";
    news_.data.validation_impressions = 0;
    news_.data.negatives = 20;
    news_.bind(table);
    news_.wrap = &with_personal_vectors;
  }

  bool promises_epsilon() const override { return noise_ != "none"; }

  std::vector<SettingCondition> conditions() const override {
    auto conditions = read_only_with("noise", {"distributed"}, sound_path_settings());
    conditions.push_back({"prototypes", "serving_epsilon", {}});
    conditions.push_back({"personal_weight", "personal_steps", {}});
    return conditions;
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_CHECK(check());
    SOTTO_TRY(auto run, prepare(request));
    if (request.remote != nullptr) {
      SOTTO_TRY(const auto optimiser, tail_average(run));
      return run.train_remotely(private_, *optimiser, engine_, task());
    }
    fl::FederatedSettings plain;
    plain.cohort = cohort_of(run.data().users.size());
    SOTTO_TRY(auto sampler,
              fl::CohortSampler::create(
                  run.data().users, plain.cohort,
                  noise_ == "none" ? privacy::NoiseOrigin::reproducible(request.seed) : request.noise()));
    SOTTO_TRY(const auto optimiser, tail_average(run));
    TrainOutcome outcome;
    if (noise_ == "none") {
      fl::PlainMeans source(std::move(sampler), fl::news_mean(plain, {}, run.training()));
      SOTTO_TRY(outcome, run.train(source, *optimiser, engine_));
    } else {
      SOTTO_TRY(outcome,
                run.train_soundly(private_, std::move(sampler), *optimiser, engine_, "sotto", task()));
      state_answers(*outcome.privacy);
    }
    if (!outcome.summary.interrupted) SOTTO_CHECK(measure(run, request, outcome));
    return outcome;
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    SOTTO_TRY(auto run, prepare(request));
    return measure_adapted(run, request);
  }

 private:
  Result<fl::DeviceTask> task_of(NewsRun& run) override {
    if (noise_ == "none") return bad_input("devices sum under noise: leave out noise=none");
    LocalSettingsList local = run.local_examples();
    local.add("vector_size", news_.vector_size);
    SOTTO_TRY(auto task, run.task_of_whole_model("sotto", std::move(local), NewsRun::ItemsAs::vectors));
    task.clip = private_.clip;
    return task;
  }

  Result<std::unique_ptr<fl::TailAverage>> tail_average(NewsRun& run) const {
    SOTTO_TRY(auto steps, fl::make_optimiser(optimiser_, run.parameters().values()));
    const auto rounds = static_cast<std::uint32_t>(engine_.rounds);
    return std::make_unique<fl::TailAverage>(std::move(steps), run.parameters().values(), rounds / 2, rounds);
  }

  std::int64_t cohort_of(std::size_t readers) const {
    if (cohort_ > 0) return cohort_;
    return std::min<std::int64_t>((static_cast<std::int64_t>(readers) + 1) / 2, 10'000);
  }

  // Refuses noise without a budget, and answers without prototypes.
  Status check() const {
    if (serving_epsilon_ > 0 && prototypes_ < 2)
      return bad_input(
          "private answers name one of the prototypes, and there are {}: set prototypes to at least 2, or "
          "serving_epsilon=0",
          prototypes_);
    return {};
  }

  // What an answer costs, on the training's page.
  void state_answers(privacy::PrivacyDatasheet& training) const {
    training.epsilon_query = serving_epsilon_;
    if (serving_epsilon_ > 0) training.query_choices = static_cast<std::uint64_t>(prototypes_);
    training.mechanism +=
        serving_epsilon_ > 0
            ? fmt::format("; an answer names one of {} public prototypes, by k-ary randomised response",
                          prototypes_)
            : "; nothing is told when recommending, the device ranks";
    training.server_sees.emplace_back(
        "no history and no personal vector: both are kept and used on the device alone");
  }

  // Of the best parameters, every reader's device having adapted itself.
  Result<metrics::MeanImpressionMetrics> measure_adapted(NewsRun& run, const RunRequest& request) const {
    SOTTO_CHECK(run.load_best());
    auto& model = dynamic_cast<fl::PersonalModel&>(run.model());
    std::vector<data::UserId> readers;
    for (const std::uint32_t test : run.data().test) readers.push_back(request.dataset.impression(test).user);
    model.use(fl::PersonalVectors::learn(model.shared(), request.dataset, std::move(readers),
                                         static_cast<std::size_t>(news_.data.max_history), personal_));
    return run.measure_test();
  }

  // The same, and what the server makes of private answers.
  Status measure(NewsRun& run, const RunRequest& request, TrainOutcome& outcome) const {
    if (personal_.steps > 0) {
      info("before adaptation: AUC {:.2f} %", 100 * outcome.test.mean.auc);
      SOTTO_TRY(outcome.test, measure_adapted(run, request));
    }
    if (serving_epsilon_ == 0 || !request.evaluate_served) return {};
    SOTTO_TRY(outcome.served, request.evaluate_served(
                                  run.model(), request.dataset, run.data().test,
                                  static_cast<std::size_t>(news_.data.max_history),
                                  {serving_epsilon_, static_cast<std::size_t>(prototypes_)}, request.seed));
    return {};
  }

  std::int64_t cohort_ = 0, prototypes_ = 64;
  std::string noise_ = "distributed";
  double serving_epsilon_ = 0;
  fl::PersonalSettings personal_;
  fl::OptimiserSettings optimiser_;
  fl::PrivateTrainingSettings private_;
};

}  // namespace

std::unique_ptr<Recipe> make_sotto() { return std::make_unique<Sotto>(); }

}  // namespace sotto::recipes
