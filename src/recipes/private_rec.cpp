// PrivateRec: a reader is a mixture of B public basis vectors; a device sends the mixture's weights, padded,
// clipped and noised, to train (epsilon_t) and to ask (epsilon_s, or from public categories for nothing).
// paper: noise inside the training pass, permuted labels, FedAdam on plain gradients, the paper's
// sensitivity. sound: trained under user-level distributed noise; queries use the sensitivity that holds.

#include <algorithm>
#include <optional>

#include "base/make_folder.h"
#include "data/dataset_copy.h"
#include "fl/released_labels.h"
#include "model/news/private_rec_model.h"
#include "privacy/accounting/account.h"
#include "recipes/news_run.h"
#include "recipes/run_data.h"
#include "recipes/table.h"

namespace sotto::recipes {
namespace {

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t comma = std::min(text.find(',', first), text.size());
    parts.push_back(text.substr(first, comma - first));
    first = comma + 1;
  }
  return parts;
}

// At delta where the noise is Gaussian; without any where it is not.
Result<double> holds_once(const privacy::PrivacyEvent& stated, double delta) {
  const privacy::PrivacyEvent event = privacy::drawn_exactly(stated);  // the sampler is named in words
  if (const auto* with_delta = std::get_if<privacy::ApproximateDp>(&event.mechanism))
    return with_delta->epsilon;  // at the same delta
  const bool gaussian = std::holds_alternative<privacy::GaussianNoise>(event.mechanism);
  SOTTO_TRY(const auto holds, privacy::account({&event, 1}, delta,
                                               gaussian ? privacy::Method::analytic_gaussian
                                                        : privacy::Method::pure_composition,
                                               privacy::Adversary::server));
  return holds.epsilon;
}

class PrivateRec final : public NewsRecipe {
 public:
  PrivateRec() : NewsRecipe(NewsSettings::private_nrms()) {
    news_.anonymous_item = true;
    federated_.printed = fl::Weighting::users;  // FedAdam takes the mean of the users' gradients
  }

  void bind(SettingsTable& table) override {
    engine_.bind(table);
    federated_.bind(table);
    optimiser_.bind(table);
    private_.bind(table);
    table.add("basis_vectors", basis_vectors_, {1, 4096}, "B, public vectors that readers are mixtures of")
        .add("padding", padding_, {0.0, 0.999},
             "p, share of clicks replaced by the anonymous item before anything is computed")
        .add("weight_clip", weight_clip_, {1e-6, 1.0}, "theta, L2 norm of the mixture's weights")
        .add("training_epsilon", training_epsilon_, {0.0, 1e6},
             "epsilon_t of the noise inside the training pass; 0: none. In sound mode it is no guarantee, "
             "only noise")
        .add("serving_epsilon", serving_epsilon_, {0.0, 1e6},
             "epsilon_s of one query; 0: exact queries, no guarantee")
        .add_choice("noise", noise_, {"laplace", "gaussian"}, "Law of the noise on the weights")
        .add_choice(
            "label_noise", label_noise_, {"printed", "repaired"},
            "paper mode, of training_epsilon: the paper's label permutation (DPL), or randomised "
            "response over all items shown, for which the epsilon holds each time that a label is sent")
        .add("noise_delta", noise_delta_, {1e-300, 0.5}, "delta of Gaussian noise on the weights")
        .add("public_categories", public_categories_,
             "Categories that readers call not sensitive, separated by commas: queries are then exact, cost "
             "nothing and read clicks of these alone");
    news_.bind_with_choice(table);
  }

  bool promises_epsilon() const override { return !as_printed(); }

  std::vector<SettingCondition> conditions() const override {
    auto conditions = read_only_with(
        "mode", {"paper"}, {"minimum_cohort", "local_epochs", "local_batch", "local_learning_rate"});
    for (auto& condition : read_only_with("mode", {"sound"}, sound_path_settings()))
      conditions.push_back(std::move(condition));
    conditions.push_back({"label_noise", "mode", {"paper"}});
    conditions.push_back({"label_noise", "training_epsilon", {}});
    conditions.push_back({"noise_delta", "noise", {"gaussian"}});
    if (training_epsilon_ == 0) {
      conditions.push_back({"noise", "serving_epsilon", {}});
      // Without noise the clipped weights are only normalised again.
      if (!as_printed())
        for (const char* name : {"padding", "weight_clip"})
          conditions.push_back({name, "serving_epsilon", {}});
    }
    return conditions;
  }

  Result<TrainOutcome> train(const RunRequest& request) override {
    SOTTO_TRY(auto run, prepare(request));
    if (request.remote != nullptr) {
      SOTTO_TRY(const auto optimiser, fl::make_optimiser(optimiser_, run.parameters().values()));
      return run.train_remotely(private_, *optimiser, engine_, task());
    }
    SOTTO_TRY(auto outcome, as_printed() ? train_as_printed(run, request) : train_soundly(run, request));
    if (public_categories_.empty() || outcome.summary.interrupted) return outcome;
    SOTTO_TRY(outcome.test, measure_open_queries(run, request));
    outcome.privacy->epsilon_query = 0;
    outcome.privacy->server_sees.emplace_back("what was read in " + public_categories_ +
                                              ", as exactly as queries tell it");
    outcome.privacy->not_protected.emplace_back("clicks in " + public_categories_ + ": called not sensitive");
    return outcome;
  }

  Result<TestMetrics> evaluate(const RunRequest& request) override {
    if (public_categories_.empty()) return NewsRecipe::evaluate(request);
    SOTTO_TRY(auto run, prepare(request));
    SOTTO_CHECK(run.load_best());
    return measure_open_queries(run, request);
  }

 private:
  bool as_printed() const { return federated_.mode == "paper"; }

  // GetPrivAttn around the backbone, with one mechanism for training and one for queries.
  Result<NewsRun> prepare(const RunRequest& request) override {
    SOTTO_CHECK(check_federated(news_));
    SOTTO_CHECK(check_open_queries(request.dataset));
    model::PrivateRecModel::Settings attention;
    attention.basis_vectors = basis_vectors_;
    attention.clip = weight_clip_;
    attention.noise = request.noise();
    attention.printed = as_printed();
    attention.padding = padding_;
    attention.anonymous = static_cast<data::ItemId>(request.dataset.item_count());
    SOTTO_TRY(attention.training, mechanism(training_epsilon_));
    SOTTO_TRY(attention.serving, mechanism(serving_epsilon_));
    news_.wrap =
        [attention](std::shared_ptr<model::RankingModel> backbone) -> std::shared_ptr<model::RankingModel> {
      return std::make_shared<model::PrivateRecModel>(
          std::dynamic_pointer_cast<model::NewsRecommender>(backbone), attention);
    };
    SOTTO_TRY(auto run, NewsRun::prepare(news_, request));
    const std::int64_t size = dynamic_cast<const model::NewsRecommender&>(run.model()).vector_size();
    if (basis_vectors_ > size)
      return bad_input("{} basis vectors of {} numbers span nothing more: set basis_vectors to at most {}",
                       basis_vectors_, size, size);
    return run;
  }

  Result<std::optional<privacy::PrivateAttention>> mechanism(double epsilon) const {
    if (epsilon == 0) return std::nullopt;
    const bool gaussian = noise_ == "gaussian";
    SOTTO_TRY(auto made, privacy::PrivateAttention::create(
                             {as_printed() ? privacy::GuaranteeMode::paper : privacy::GuaranteeMode::sound,
                              gaussian ? privacy::NoiseKind::gaussian : privacy::NoiseKind::laplace,
                              static_cast<std::uint64_t>(basis_vectors_), weight_clip_, epsilon,
                              gaussian ? noise_delta_ : 0, padding_}));
    return std::optional(std::move(made));
  }

  Result<TrainOutcome> train_as_printed(NewsRun& run, const RunRequest& request) {
    SOTTO_TRY(auto sampler, fl::CohortSampler::create(run.data().users, federated_.cohort, request.seed));
    if (training_epsilon_ > 0) {
      SOTTO_TRY(auto labels,
                label_noise_ == "repaired"
                    ? fl::randomised_labels(training_epsilon_, news_.data.negatives, request.noise())
                    : fl::permuted_labels(training_epsilon_, news_.data.negatives, request.noise()));
      run.training().choose_candidates(std::move(labels));
    }
    fl::PlainMeans source(std::move(sampler), fl::news_mean(federated_, {}, run.training()));
    SOTTO_TRY(auto outcome, run.train(source, optimiser_, engine_));
    SOTTO_TRY(outcome.privacy, printed_datasheet());
    return outcome;
  }

  Result<TrainOutcome> train_soundly(NewsRun& run, const RunRequest& request) {
    SOTTO_TRY(auto sampler, fl::CohortSampler::create(run.data().users, federated_.cohort, request.noise()));
    SOTTO_TRY(const auto optimiser, fl::make_optimiser(optimiser_, run.parameters().values()));
    SOTTO_TRY(auto outcome,
              run.train_soundly(private_, std::move(sampler), *optimiser, engine_, "privaterec", task()));
    SOTTO_TRY(const std::string query, query_statement());
    outcome.privacy->mechanism += "; " + query;
    SOTTO_TRY(outcome.privacy->epsilon_query, query_epsilon());
    outcome.privacy->delta_query = query_delta();
    outcome.privacy->not_protected.emplace_back("queries together: the device's ledger charges each of them");
    return outcome;
  }

  Result<fl::DeviceTask> task_of(NewsRun& run) override {
    if (as_printed() || training_epsilon_ > 0 || news_.model != "nrms")
      return bad_input(
          "devices train privaterec over nrms, and their noise is in the sum: leave out mode=paper, "
          "training_epsilon and model={}",
          news_.model);
    LocalSettingsList local = run.local_examples();
    run.add_title_sizes(local);
    local.add("basis_vectors", basis_vectors_).add("weight_clip", weight_clip_);
    SOTTO_TRY(auto task, run.task_of_whole_model("privaterec", std::move(local), NewsRun::ItemsAs::titles));
    task.clip = private_.clip;
    return task;
  }

  // Of one query, for the whole history.
  Result<std::optional<double>> query_epsilon() const {
    SOTTO_TRY(const auto made, mechanism(serving_epsilon_));
    if (!made) return std::nullopt;
    return holds_once(made->whole_history(), noise_delta_);
  }

  double query_delta() const { return serving_epsilon_ > 0 && noise_ == "gaussian" ? noise_delta_ : 0; }

  Result<std::string> query_statement() const {
    SOTTO_TRY(const auto made, mechanism(serving_epsilon_));
    if (!made) return std::string("queries are sent without noise: no differential privacy for them");
    const privacy::PrivacyEvent history = made->whole_history();
    SOTTO_TRY(const double whole, holds_once(history, noise_delta_));
    SOTTO_TRY(const double click, holds_once(*made->statement().holds, noise_delta_));
    return fmt::format(
        "one query: epsilon {:.4g} for one replaced click, {:.4g} for the whole history (asked for: {:g}){}, "
        "up to a factor of 1 ± {:.1g} and a chance of {:.1g} by which the sampler may miss its law; queries "
        "add up",
        click, whole, serving_epsilon_,
        query_delta() > 0 ? fmt::format(" at delta {:g}", query_delta()) : std::string(), history.log_ratio,
        history.total_variation);
  }

  // What the paper claims; nothing holds for gradients computed from raw histories.
  Result<privacy::PrivacyDatasheet> printed_datasheet() const {
    privacy::PrivacyDatasheet sheet;
    sheet.recipe = "privaterec";
    sheet.mode = "paper";
    SOTTO_TRY(const std::string query, query_statement());
    sheet.mechanism =
        fmt::format("weights of {} basis vectors with {} noise inside the pass, {} labels; {}",
                    basis_vectors_, noise_, label_noise_ == "repaired" ? "randomised" : "permuted", query);
    sheet.sampling = "the server picks and sees the cohort: nothing is gained by sampling";
    sheet.composition = "none: the paper counts one training step";
    if (training_epsilon_ > 0) sheet.epsilon_claimed = training_epsilon_;
    SOTTO_TRY(sheet.epsilon_query, query_epsilon());
    sheet.delta_query = query_delta();
    sheet.server_sees = {"who takes part in which round", "every device's gradient on its own"};
    sheet.not_protected = {
        "gradients below the noise: user model, news model through the history and the basis as keys are "
        "computed from the raw history",
        label_noise_ == "repaired"
            ? fmt::format(
                  "a click beyond epsilon {:g}, which holds each time that its label is sent (rounds add up) "
                  "and not for the history that it joins",
                  training_epsilon_)
            : "the click: it is always among the items that are sent"};
    return sheet;
  }

  // Personal settings: exact queries from clicks of categories alone that readers called not sensitive. Noise
  // and charge follow from the setting, never from what was clicked.
  Status check_open_queries(const data::Dataset& dataset) const {
    if (public_categories_.empty()) return {};
    if (serving_epsilon_ == 0)
      return data::check_categories(dataset.catalogue(), split_at_commas(public_categories_));
    return bad_input(
        "queries from public_categories read nothing that needs noise: set serving_epsilon=0, or leave "
        "public_categories out to ask with all clicks");
  }

  Result<metrics::MeanImpressionMetrics> measure_open_queries(NewsRun& run, const RunRequest& request) const {
    const fs::path folder = request.run / "open-histories";
    SOTTO_CHECK(make_folder(folder));
    metrics::MeanImpressionMetrics metrics;
    {
      SOTTO_TRY(const data::Dataset open,
                data::open_histories(request.dataset, split_at_commas(public_categories_), folder));
      std::vector<std::uint32_t> all(open.impression_count());
      for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
      keep_drawn_tests(all, request);
      metrics = request.evaluate(run.model(), open, all, static_cast<std::size_t>(news_.data.max_history));
    }
    std::error_code left_there;
    fs::remove_all(folder, left_there);  // a copy for this measurement only
    return metrics;
  }

  fl::FederatedSettings federated_;
  fl::OptimiserSettings optimiser_;
  fl::PrivateTrainingSettings private_;
  std::int64_t basis_vectors_ = 3;
  double padding_ = 0.2, weight_clip_ = 1, training_epsilon_ = 0, serving_epsilon_ = 0, noise_delta_ = 1e-6;
  std::string noise_ = "laplace", label_noise_ = "printed", public_categories_;
};

}  // namespace

std::unique_ptr<Recipe> make_private_rec() { return std::make_unique<PrivateRec>(); }

}  // namespace sotto::recipes
