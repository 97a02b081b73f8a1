#include "recipes/dp_fedrec_settings.h"

#include "model/news/noisy_user_model.h"
#include "privacy/accounting/account.h"

namespace sotto {

void DpFedRecSettings::bind(SettingsTable& table) {
  table
      .add("training_epsilon", training_epsilon, {1e-9, 1e6},
           "paper mode: epsilon_t as the paper counts it, of one upload")
      .add("gradient_clip", gradient_clip, {1e-12, 1e6}, "paper mode: L2 norm of an uploaded gradient")
      .add("serving_epsilon", serving_epsilon, {0.0, 1e6},
           "epsilon_s of one query, a noisy user vector (VDP); 0: exact queries, no guarantee")
      .add("vector_clip", vector_clip, {1e-12, 1e6}, "L2 norm of the user vector that a query sends");
}

UpdateTransforms DpFedRecSettings::printed_upload(std::uint64_t seed) const {
  UpdateTransforms transforms;
  transforms.push_back(std::make_unique<ClipNorm>(gradient_clip));
  // No coordinate of a vector of that norm is larger: only the noise is left to do.
  transforms.push_back(
      std::make_unique<ElementwiseLaplaceNoise>(gradient_clip, 2 * gradient_clip / training_epsilon, seed));
  return transforms;
}

Result<UserEmbeddingRelease> DpFedRecSettings::query(std::uint64_t vector_size) const {
  return UserEmbeddingRelease::create({.mode = mode_,
                                       .noise = NoiseKind::laplace,
                                       .dimension = vector_size,
                                       .clip = vector_clip,
                                       .epsilon = serving_epsilon});
}

Result<std::function<std::shared_ptr<RankingModel>(std::shared_ptr<RankingModel>)>>
DpFedRecSettings::around_a_model(const std::string& mode, std::uint64_t seed) {
  mode_ = mode == "paper" ? GuaranteeMode::paper : GuaranteeMode::sound;
  if (serving_epsilon == 0)
    return std::function<std::shared_ptr<RankingModel>(std::shared_ptr<RankingModel>)>();
  SOTTO_TRY(const auto possible, query(1));
  (void)possible;
  return [settings = *this, seed](std::shared_ptr<RankingModel> model) -> std::shared_ptr<RankingModel> {
    auto towers = std::dynamic_pointer_cast<NewsRecommender>(std::move(model));
    TORCH_CHECK(towers, "only a two-tower model has user vectors");
    auto release = settings.query(static_cast<std::uint64_t>(towers->vector_size()));
    TORCH_CHECK(release.has_value(), "a user vector cannot be released");
    return std::make_shared<NoisyUserModel>(std::move(towers), std::move(*release), seed);
  };
}

namespace {

// What a mechanism that is used `times` times really gives.
Result<Guarantee> really_holds(const MechanismStatement& statement, std::uint64_t times) {
  PrivacyEvent all = *statement.holds;
  all.count = times;
  all.total_variation = 0;  // of the law as printed
  return account({&all, 1}, 0, Method::pure_composition, Adversary::server);
}

}  // namespace

Result<std::optional<double>> DpFedRecSettings::query_epsilon(std::uint64_t vector_size) const {
  if (serving_epsilon == 0) return std::nullopt;
  SOTTO_TRY(const auto release, query(vector_size));
  SOTTO_TRY(const auto holds, really_holds(release.statement(), 1));
  return holds.epsilon;
}

Result<std::string> DpFedRecSettings::query_statement(std::uint64_t vector_size) const {
  if (serving_epsilon == 0)
    return std::string("queries are sent without noise: no differential privacy for them");
  SOTTO_TRY(const auto holds, query_epsilon(vector_size));
  return fmt::format(
      "one query: a user vector of {} numbers cut to {:g}, Laplace noise; epsilon {:.4g} for the whole "
      "history "
      "(asked for: {:g}); queries add up",
      vector_size, vector_clip, *holds, serving_epsilon);
}

Result<PrivacyDatasheet> DpFedRecSettings::as_printed(std::uint64_t dimension, std::uint64_t vector_size,
                                                      std::int64_t rounds) const {
  // The upload is the same release as VDP's, of a longer vector.
  SOTTO_TRY(const auto upload, UserEmbeddingRelease::create({.mode = GuaranteeMode::paper,
                                                             .noise = NoiseKind::laplace,
                                                             .dimension = dimension,
                                                             .clip = gradient_clip,
                                                             .epsilon = training_epsilon}));
  const MechanismStatement statement = upload.statement();
  SOTTO_TRY(const auto once, really_holds(statement, 1));
  SOTTO_TRY(const auto all, really_holds(statement, static_cast<std::uint64_t>(rounds)));
  SOTTO_TRY(const std::string query_line, query_statement(vector_size));
  PrivacyDatasheet sheet;
  sheet.recipe = "dp-fedrec";
  sheet.mode = "paper";
  sheet.mechanism = fmt::format(
      "gradient of {} numbers cut to L2 norm {:g}, Laplace({:g}) on each: one upload has epsilon {:.4g}, the "
      "root of {} times the claim; {}",
      dimension, gradient_clip, 2 * gradient_clip / training_epsilon, once.epsilon, dimension, query_line);
  sheet.sampling = "the server picks and sees the cohort: nothing is gained by sampling";
  sheet.composition = fmt::format("{} rounds, no cap on participations; pure composition", rounds);
  sheet.unit = all.unit;
  sheet.adjacency = all.adjacency;
  sheet.epsilon_server = all.epsilon;
  sheet.epsilon_published = all.epsilon;
  sheet.epsilon_claimed = training_epsilon;
  SOTTO_TRY(sheet.epsilon_query, query_epsilon(vector_size));
  sheet.server_sees = {"who takes part in which round", "every device's noisy gradient on its own",
                       "how many clicks every device has"};
  sheet.not_protected = {statement.why};
  return sheet;
}

Result<PrivacyDatasheet> DpFedRecSettings::beside(PrivacyDatasheet training,
                                                  std::uint64_t vector_size) const {
  SOTTO_TRY(const std::string query_line, query_statement(vector_size));
  training.mechanism += "; " + query_line;
  SOTTO_TRY(training.epsilon_query, query_epsilon(vector_size));
  training.not_protected.emplace_back("queries together: the device's ledger charges each of them");
  return training;
}

}  // namespace sotto
