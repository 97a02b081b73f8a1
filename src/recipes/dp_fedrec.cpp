// DP-FedRec, PrivateRec's baseline.
// paper: each user uploads its gradient, clipped to an L2 norm, with Laplace noise on every coordinate;
// queries are user vectors treated the same way (VDP). Laplace noise needs the L1 norm, so what holds is √d
// times the claim, printed beside it. sound: the same model and rounds under user-level distributed noise
// (the shared path, not Laplace); queries are calibrated to the L1 sensitivity.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/news/noisy_user_model.h"
#include "privacy/mechanisms/user_embedding_release.h"
#include "privacy/noise/noise_origin.h"
#include "recipes/news_run.h"
#include "recipes/table.h"

namespace sotto::recipes {
namespace {

class DpFedRec final : public NewsRecipe {
 public:
  DpFedRec() : NewsRecipe(NewsSettings::private_nrms()) {
    federated_.printed = fl::Weighting::users;  // FedAdam takes the mean of the users' gradients
  }

  void bind(SettingsTable& table) override {
    engine_.bind(table);
    federated_.bind(table);
    optimiser_.bind(table);
    private_.bind(table);
    table
        .add("training_epsilon", training_epsilon_, {0.0, 1e6},
             "paper mode: epsilon_t as the paper counts it, of one upload; 0: infinity, plain gradients")
        .add("gradient_clip", gradient_clip_, {1e-12, 1e6}, "paper mode: L2 norm of an uploaded gradient")
        .add("serving_epsilon", serving_epsilon_, {0.0, 1e6},
             "epsilon_s of one query, a noisy user vector (VDP); 0: exact queries, no guarantee")
        .add("vector_clip", vector_clip_, {1e-12, 1e6}, "L2 norm of the user vector that a query sends");
    news_.bind_with_choice(table);
  }

  bool promises_epsilon() const override { return !as_printed(); }

  std::vector<SettingCondition> conditions() const override {
    auto conditions = read_only_with("mode", {"paper"},
                                     {"training_epsilon", "gradient_clip", "minimum_cohort", "local_epochs",
                                      "local_batch", "local_learning_rate"});
    for (auto& condition : read_only_with("mode", {"sound"}, sound_path_settings()))
      conditions.push_back(std::move(condition));
    conditions.push_back({"gradient_clip", "training_epsilon", {}});
    conditions.push_back({"vector_clip", "serving_epsilon", {}});
    return conditions;
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, prepare(request));
    const auto vector_size =
        static_cast<std::uint64_t>(dynamic_cast<model::NewsRecommender&>(run.model()).vector_size());
    return as_printed() ? train_as_printed(run, request, vector_size)
                        : train_soundly(run, request, vector_size);
  }

 private:
  bool as_printed() const { return federated_.mode == "paper"; }

  // Noisy queries around the model. One whose vectors cannot be released fails when it is made, so settings
  // are checked first.
  Result<NewsRun> prepare(const RunRequest& request) override {
    SOTTO_CHECK(check_federated(news_));
    news_.wrap = {};
    if (serving_epsilon_ > 0) {
      SOTTO_TRY(const auto possible, query(1));
      (void)possible;
      news_.wrap = [this, noise = request.noise()](
                       std::shared_ptr<model::RankingModel> model) -> std::shared_ptr<model::RankingModel> {
        auto towers = std::dynamic_pointer_cast<model::NewsRecommender>(std::move(model));
        TORCH_CHECK(towers, "only a two-tower model has user vectors");
        auto release = query(static_cast<std::uint64_t>(towers->vector_size()));
        TORCH_CHECK(release.has_value(), "a user vector cannot be released");
        return std::make_shared<model::NoisyUserModel>(std::move(towers), std::move(*release), noise);
      };
    }
    return NewsRun::prepare(news_, request);
  }

  Result<TrainOutcome> train_as_printed(NewsRun& run, const RunRequest& request, std::uint64_t vector_size) {
    SOTTO_TRY(auto sampler, fl::CohortSampler::create(run.data().users, federated_.cohort, request.seed));
    fl::UpdateTransforms upload;
    if (training_epsilon_ > 0) {
      SOTTO_TRY(auto noise,
                privacy::ElementwiseLaplace::create({gradient_clip_, printed_scale(), run.dimension()}));
      upload.push_back(std::make_unique<fl::ClipNorm>(gradient_clip_));
      // No coordinate of a vector of that norm is larger: only the noise is left to do.
      upload.push_back(std::make_unique<fl::ElementwiseLaplaceNoise>(std::move(noise), request.noise()));
    }
    fl::PlainMeans source(std::move(sampler), fl::news_mean(federated_, std::move(upload), run.training()));
    SOTTO_TRY(auto outcome, run.train(source, optimiser_, engine_));
    SOTTO_TRY(outcome.privacy, training_epsilon_ > 0 ? printed_datasheet(run.dimension(), vector_size)
                                                     : datasheet_without_noise(vector_size));
    return outcome;
  }

  Result<TrainOutcome> train_soundly(NewsRun& run, const RunRequest& request, std::uint64_t vector_size) {
    SOTTO_TRY(auto sampler, fl::CohortSampler::create(run.data().users, federated_.cohort, request.noise()));
    SOTTO_TRY(const auto optimiser, fl::make_optimiser(optimiser_, run.parameters().values()));
    SOTTO_TRY(auto outcome,
              run.train_soundly(private_, std::move(sampler), *optimiser, engine_, "dp-fedrec", task()));
    SOTTO_TRY(const std::string query_line, query_statement(vector_size));
    outcome.privacy->mechanism += "; " + query_line;
    SOTTO_TRY(outcome.privacy->epsilon_query, query_epsilon(vector_size));
    outcome.privacy->not_protected.emplace_back("queries together: the device's ledger charges each of them");
    return outcome;
  }

  double printed_scale() const { return 2 * gradient_clip_ / training_epsilon_; }

  Result<privacy::UserEmbeddingRelease> query(std::uint64_t vector_size) const {
    return privacy::UserEmbeddingRelease::create(
        {.mode = as_printed() ? privacy::GuaranteeMode::paper : privacy::GuaranteeMode::sound,
         .noise = privacy::NoiseKind::laplace,
         .dimension = vector_size,
         .clip = vector_clip_,
         .epsilon = serving_epsilon_});
  }

  // Of one query, for the whole history; nothing: it has no noise.
  Result<std::optional<double>> query_epsilon(std::uint64_t vector_size) const {
    if (serving_epsilon_ == 0) return std::nullopt;
    SOTTO_TRY(const auto release, query(vector_size));
    SOTTO_TRY(const auto holds, really_holds(release.statement(), 1));
    return holds.epsilon;
  }

  Result<std::string> query_statement(std::uint64_t vector_size) const {
    if (serving_epsilon_ == 0)
      return std::string("queries are sent without noise: no differential privacy for them");
    SOTTO_TRY(const auto holds, query_epsilon(vector_size));
    return fmt::format(
        "one query: a user vector of {} numbers cut to {:g}, Laplace noise; epsilon {:.4g} for the whole "
        "history (asked for: {:g}); queries add up",
        vector_size, vector_clip_, *holds, serving_epsilon_);
  }

  Result<privacy::PrivacyDatasheet> datasheet_without_noise(std::uint64_t vector_size) const {
    privacy::PrivacyDatasheet sheet;
    sheet.recipe = "dp-fedrec";
    sheet.mode = "paper";
    SOTTO_TRY(const std::string query_line, query_statement(vector_size));
    sheet.mechanism = "plain gradients, no noise in training; " + query_line;
    sheet.sampling = "the server picks and sees the cohort: nothing is gained by sampling";
    sheet.composition = "none: nothing holds for a single upload";
    SOTTO_TRY(sheet.epsilon_query, query_epsilon(vector_size));
    sheet.server_sees = {"who takes part in which round", "every device's gradient on its own"};
    sheet.not_protected = {"everything in training: gradients are sent as they are"};
    return sheet;
  }

  // Nobody's participations are capped.
  Result<privacy::PrivacyDatasheet> printed_datasheet(std::uint64_t dimension,
                                                      std::uint64_t vector_size) const {
    // The upload is the same release as VDP's, of a longer vector.
    SOTTO_TRY(const auto upload, privacy::UserEmbeddingRelease::create({.mode = privacy::GuaranteeMode::paper,
                                                                        .noise = privacy::NoiseKind::laplace,
                                                                        .dimension = dimension,
                                                                        .clip = gradient_clip_,
                                                                        .epsilon = training_epsilon_}));
    const privacy::MechanismStatement statement = upload.statement();
    SOTTO_TRY(const auto once, really_holds(statement, 1));
    SOTTO_TRY(auto sheet, sheet_of_single_uploads(statement, engine_.rounds));
    SOTTO_TRY(const std::string query_line, query_statement(vector_size));
    sheet.recipe = "dp-fedrec";
    sheet.mechanism = fmt::format(
        "gradient of {} numbers cut to L2 norm {:g}, Laplace({:g}) on each: one upload has epsilon {:.4g}, "
        "the root of {} times the claim; {}",
        dimension, gradient_clip_, printed_scale(), once.epsilon, dimension, query_line);
    sheet.epsilon_claimed = training_epsilon_;
    SOTTO_TRY(sheet.epsilon_query, query_epsilon(vector_size));
    return sheet;
  }

  fl::FederatedSettings federated_;
  fl::OptimiserSettings optimiser_;
  fl::PrivateTrainingSettings private_;
  double training_epsilon_ = 10, gradient_clip_ = 0.005, serving_epsilon_ = 0, vector_clip_ = 0.001;
};

}  // namespace

std::unique_ptr<Recipe> make_dp_fedrec() { return std::make_unique<DpFedRec>(); }

}  // namespace sotto::recipes
