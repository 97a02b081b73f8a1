// FedNewsRec (Qi et al. 2020).
// paper: each user uploads clip(g, δ) + Laplace(λ) per coordinate; the server takes the |B_u|-weighted mean
// and one SGD step. Claimed ε = 2δ/λ is per coordinate; the device sends |B_u| as it is, so nothing holds for
// a user, and what the noise alone is worth is printed beside it. sound: the same model and rounds; updates
// are clipped as one vector and summed with distributed noise.

#include <utility>

#include "privacy/mechanisms/vector_release.h"
#include "recipes/news_run.h"
#include "recipes/table.h"

namespace sotto::recipes {
namespace {

class FedNewsRec final : public NewsRecipe {
 public:
  FedNewsRec() : NewsRecipe({}) {}

  void bind(SettingsTable& table) override {
    engine_.bind(table);
    federated_.bind(table);
    optimiser_.optimiser = "sgd";
    optimiser_.learning_rate = 0.5;
    optimiser_.bind(table);
    private_.bind(table);
    table.add("element_clip", element_clip_, {1e-12, 1e6}, "paper mode: delta, each coordinate's bound")
        .add("laplace", laplace_, {1e-12, 1e6}, "paper mode: lambda, scale of the noise on each coordinate");
    news_.data.validation_impressions = 0;
    news_.bind(table);
  }

  bool promises_epsilon() const override { return federated_.mode != "paper"; }

  std::vector<SettingCondition> conditions() const override {
    auto conditions = read_only_with(
        "mode", {"paper"},
        {"element_clip", "laplace", "minimum_cohort", "local_epochs", "local_batch", "local_learning_rate"});
    for (auto& condition : read_only_with("mode", {"sound"}, sound_path_settings()))
      conditions.push_back(std::move(condition));
    return conditions;
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, prepare(request));
    if (federated_.mode != "paper" || request.remote != nullptr) return train_soundly(run, request);
    SOTTO_TRY(auto sampler, fl::CohortSampler::create(run.data().users, federated_.cohort, request.seed));
    SOTTO_TRY(auto noise, privacy::ElementwiseLaplace::create({element_clip_, laplace_, run.dimension()}));
    fl::UpdateTransforms upload;
    upload.push_back(std::make_unique<fl::ElementwiseLaplaceNoise>(std::move(noise), request.noise()));
    fl::PlainMeans source(std::move(sampler), fl::news_mean(federated_, std::move(upload), run.training()));
    SOTTO_TRY(auto outcome, run.train(source, optimiser_, engine_));
    SOTTO_TRY(outcome.privacy, as_printed(run.dimension()));
    return outcome;
  }

 private:
  Result<TrainOutcome> train_soundly(NewsRun& run, const RunRequest& request) {
    SOTTO_TRY(const auto optimiser, fl::make_optimiser(optimiser_, run.parameters().values()));
    if (request.remote != nullptr) return run.train_remotely(private_, *optimiser, engine_, task());
    SOTTO_TRY(auto secret, fl::CohortSampler::create(run.data().users, federated_.cohort, request.noise()));
    return run.train_soundly(private_, std::move(secret), *optimiser, engine_, "fednewsrec", task());
  }

  Result<fl::DeviceTask> task_of(NewsRun& run) override {
    if (federated_.mode == "paper") return bad_input("devices sum under noise: leave out mode=paper");
    LocalSettingsList local = run.local_examples();
    run.add_title_sizes(local);
    local.add("recent_clicks", news_.shape.recent_clicks);
    SOTTO_TRY(auto task, run.task_of_whole_model("fednewsrec", std::move(local), NewsRun::ItemsAs::titles));
    task.clip = private_.clip;
    return task;
  }

  // Nobody's participations are capped, so every round counts. |B_u| weighs what is noised already: the
  // server is told it exactly, and in a published mean it is the ratio of the noises' scales, which no ε
  // bounds.
  Result<privacy::PrivacyDatasheet> as_printed(std::uint64_t dimension) const {
    SOTTO_TRY(const auto upload, privacy::ElementwiseLaplace::create({element_clip_, laplace_, dimension}));
    const privacy::MechanismStatement statement = upload.statement();
    SOTTO_TRY(auto sheet, sheet_of_single_uploads(statement, engine_.rounds));
    sheet.recipe = "fednewsrec";
    sheet.epsilon_claimed = statement.claimed_epsilon;
    sheet.epsilon_noised_part = std::exchange(sheet.epsilon_server, std::nullopt);
    sheet.epsilon_published = std::nullopt;
    const std::string alone =
        fmt::format("{:.4g} is the epsilon of the noised gradients alone", *sheet.epsilon_noised_part);
    sheet.mechanism = fmt::format(
        "every coordinate clipped to {:g}, Laplace({:g}) on each of {}; the number of clicks is sent without "
        "noise: {}",
        element_clip_, laplace_, dimension, alone);
    sheet.server_sees.emplace_back("how many clicks every device has");
    sheet.not_protected.push_back("how many clicks every device has, so no epsilon holds for a user: " +
                                  alone);
    return sheet;
  }

  fl::FederatedSettings federated_;
  fl::OptimiserSettings optimiser_;
  fl::PrivateTrainingSettings private_;
  double element_clip_ = 0.005, laplace_ = 0.015;
};

}  // namespace

std::unique_ptr<Recipe> make_fednewsrec() { return std::make_unique<FedNewsRec>(); }

}  // namespace sotto::recipes
