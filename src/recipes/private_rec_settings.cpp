#include "recipes/private_rec_settings.h"

#include "privacy/accounting/account.h"

namespace sotto {

void PrivateRecSettings::bind(SettingsTable& table) {
  table.add("basis_vectors", basis_vectors, {1, 4096}, "B, public vectors that readers are mixtures of")
      .add("padding", padding, {0.0, 0.999},
           "p, share of clicks replaced by a blank item before anything is computed")
      .add("weight_clip", weight_clip, {1e-6, 1.0}, "theta, L2 norm of the mixture's weights")
      .add("training_epsilon", training_epsilon, {0.0, 1e6},
           "epsilon_t of the noise inside the training pass; 0: none. In sound mode it is no guarantee, only "
           "noise")
      .add("serving_epsilon", serving_epsilon, {0.0, 1e6},
           "epsilon_s of one query; 0: exact queries, no guarantee")
      .add_choice("noise", noise, {"laplace", "gaussian"}, "Law of the noise on the weights")
      .add("noise_delta", noise_delta, {1e-300, 0.5}, "delta of Gaussian noise on the weights");
}

Result<std::optional<PrivateAttention>> PrivateRecSettings::mechanism(double epsilon) const {
  if (epsilon == 0) return std::nullopt;
  const bool gaussian = noise == "gaussian";
  SOTTO_TRY(auto made, PrivateAttention::create({mode_, gaussian ? NoiseKind::gaussian : NoiseKind::laplace,
                                                 static_cast<std::uint64_t>(basis_vectors), weight_clip,
                                                 epsilon, gaussian ? noise_delta : 0, padding}));
  return std::optional(std::move(made));
}

Result<std::function<std::shared_ptr<RankingModel>(std::shared_ptr<RankingModel>)>>
PrivateRecSettings::around_a_model(const std::string& mode, std::uint64_t seed) {
  mode_ = mode == "paper" ? GuaranteeMode::paper : GuaranteeMode::sound;
  PrivateRecModel::Settings model{basis_vectors, weight_clip, {}, {}, seed};
  SOTTO_TRY(model.training, mechanism(training_epsilon));
  SOTTO_TRY(model.serving, mechanism(serving_epsilon));
  return [model](std::shared_ptr<RankingModel> backbone) -> std::shared_ptr<RankingModel> {
    return std::make_shared<PrivateRecModel>(std::dynamic_pointer_cast<NewsRecommender>(backbone), model);
  };
}

Status PrivateRecSettings::check_basis(const RankingModel& model) const {
  const std::int64_t size = dynamic_cast<const NewsRecommender&>(model).vector_size();
  if (basis_vectors <= size) return {};
  return bad_input("{} basis vectors of {} numbers span nothing more: set basis_vectors to at most {}",
                   basis_vectors, size, size);
}

namespace {

Result<double> holds_once(PrivacyEvent event) {
  event.total_variation = 0;  // of the sampler, named in words
  SOTTO_TRY(const auto holds, account({&event, 1}, 0, Method::pure_composition, Adversary::server));
  return holds.epsilon;
}

}  // namespace

Result<std::optional<double>> PrivateRecSettings::query_epsilon() const {
  SOTTO_TRY(const auto made, mechanism(serving_epsilon));
  if (!made || noise == "gaussian") return std::nullopt;
  return holds_once(made->whole_history());
}

Result<std::string> PrivateRecSettings::query_statement() const {
  SOTTO_TRY(const auto made, mechanism(serving_epsilon));
  if (!made) return std::string("queries are sent without noise: no differential privacy for them");
  if (noise == "gaussian")
    return fmt::format("one query: {} noise on {} weights for epsilon {:g}, delta {:g}; queries add up",
                       noise, basis_vectors, serving_epsilon, noise_delta);
  SOTTO_TRY(const double whole, holds_once(made->whole_history()));
  SOTTO_TRY(const double click, holds_once(*made->statement().holds));
  return fmt::format(
      "one query: epsilon {:.4g} for one replaced click, {:.4g} for the whole history (asked for: {:g}), up "
      "to the {:.1g} by which the sampler may miss its law; queries add up",
      click, whole, serving_epsilon, made->whole_history().total_variation);
}

Result<PrivacyDatasheet> PrivateRecSettings::as_printed() const {
  PrivacyDatasheet sheet;
  sheet.recipe = "privaterec";
  sheet.mode = "paper";
  SOTTO_TRY(const std::string query, query_statement());
  sheet.mechanism =
      fmt::format("weights of {} basis vectors with {} noise inside the pass, permuted labels; {}",
                  basis_vectors, noise, query);
  sheet.sampling = "the server picks and sees the cohort: nothing is gained by sampling";
  sheet.composition = "none: the paper counts one training step";
  if (training_epsilon > 0) sheet.epsilon_claimed = training_epsilon;
  SOTTO_TRY(sheet.epsilon_query, query_epsilon());
  sheet.server_sees = {"who takes part in which round", "every device's gradient on its own"};
  sheet.not_protected = {
      "gradients below the noise: user model, news model through the history and the basis as keys are "
      "computed "
      "from the raw history",
      "the click: it is always among the items that are sent"};
  return sheet;
}

Result<PrivacyDatasheet> PrivateRecSettings::beside(PrivacyDatasheet training) const {
  SOTTO_TRY(const std::string query, query_statement());
  training.mechanism += "; " + query;
  SOTTO_TRY(training.epsilon_query, query_epsilon());
  training.not_protected.emplace_back("queries together: the device's ledger charges each of them");
  return training;
}

}  // namespace sotto
