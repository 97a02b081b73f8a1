#include "eval/experiments/private_rec/private_rows.h"

#include "privacy/accounting/account.h"
#include "privacy/mechanisms/private_attention.h"
#include "privacy/mechanisms/user_embedding_release.h"

namespace sotto {

namespace {

// What one query really gives away about the whole history.
Result<QueryEpsilon> query_epsilon(const PrivateRecPoint& point) {
  if (!std::isfinite(point.serving_epsilon)) return QueryEpsilon{point.serving_epsilon, std::nullopt};
  SOTTO_TRY(const auto attention,
            PrivateAttention::create({.mode = GuaranteeMode::paper,
                                      .noise = NoiseKind::laplace,
                                      .basis_vectors = static_cast<std::uint64_t>(point.basis),
                                      .clip = 1,
                                      .epsilon = point.serving_epsilon,
                                      .delta = 0,
                                      .padding = point.padding}));
  PrivacyEvent event = attention.whole_history();
  event.total_variation = 0;  // of the sampler: below every digit shown
  SOTTO_TRY(const auto holds, account({&event, 1}, 0, Method::pure_composition, Adversary::server));
  return QueryEpsilon{point.serving_epsilon, holds.epsilon};
}

// The same for VDP's noisy user vector. Nothing is said when the user changed the size of vectors.
Result<QueryEpsilon> vector_epsilon(const GridContext& context, double epsilon) {
  for (const char* size : {"heads", "head_size", "filters", "vector_clip"})
    if (!context.option(size).empty()) return QueryEpsilon{epsilon, std::nullopt};
  if (!std::isfinite(epsilon)) return QueryEpsilon{epsilon, std::nullopt};
  SOTTO_TRY(const auto release,
            UserEmbeddingRelease::create({.mode = GuaranteeMode::paper,
                                          .noise = NoiseKind::laplace,
                                          .dimension = context.pick<std::uint64_t>(400, 32),
                                          .clip = 0.001,
                                          .epsilon = epsilon}));
  const MechanismStatement statement = release.statement();
  if (!statement.holds) return QueryEpsilon{epsilon, std::nullopt};
  PrivacyEvent event = *statement.holds;
  event.total_variation = 0;
  SOTTO_TRY(const auto holds, account({&event, 1}, 0, Method::pure_composition, Adversary::server));
  return QueryEpsilon{epsilon, holds.epsilon};
}

}  // namespace

Result<GridRow> private_rec_row(const GridContext& context, const PrivateRecPoint& point, std::string label) {
  GridRow row{std::move(label),
              "privaterec",
              {"mode=paper", context.quick ? "cohort=50" : cohort_of(context, 0.02),
               context.quick ? "learning_rate=0.01" : "learning_rate=0.001",
               fmt::format("basis_vectors={}", point.basis), fmt::format("padding={:g}", point.padding),
               fmt::format("training_epsilon={}", epsilon_setting(point.training_epsilon))}};
  row.at_test = {fmt::format("serving_epsilon={}", epsilon_setting(point.serving_epsilon))};
  SOTTO_TRY(row.query, query_epsilon(point));
  return row;
}

Result<GridRow> dp_fedrec_row(const GridContext& context, double training_epsilon, double serving_epsilon) {
  GridRow row{fmt::format("DP-FedRec, ε_t = {:g}, ε_s = {}", training_epsilon, epsilon_name(serving_epsilon)),
              "dp-fedrec",
              {"mode=paper", context.quick ? "cohort=50" : cohort_of(context, 0.02),
               context.quick ? "learning_rate=0.01" : "learning_rate=0.001",
               fmt::format("training_epsilon={:g}", training_epsilon)}};
  // Not a setting of the test alone: the noise wraps the model, and a run remembers it.
  row.settings.push_back(fmt::format("serving_epsilon={}", epsilon_setting(serving_epsilon)));
  SOTTO_TRY(row.query, vector_epsilon(context, serving_epsilon));
  return row;
}

std::vector<Backbone> backbones(const GridContext& context) {
  return {{"NAML", "central-naml", {"model=naml"}},
          {"NRMS", "central-nrms", {"model=nrms"}},
          {"PLM-NR", "central-plm-nr", Settings{"model=plm-nr"} + bert_settings(context)}};
}

}  // namespace sotto
