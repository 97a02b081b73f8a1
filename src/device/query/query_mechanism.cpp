#include "device/query/query_mechanism.h"

#include <algorithm>
#include <cmath>

#include "privacy/mechanisms/private_attention.h"

namespace sotto {

namespace {

// A query on unprotected clicks is exact. Were it ever priced as if it touched protected ones, no budget
// could pay for it.
constexpr double kNoProtection = 1e9;

// softmax(u·bᵀ/√d); uniform where numbers are not finite, so that no history makes a draw fail.
std::vector<double> attention_of(std::span<const float> user, std::span<const float> basis) {
  const std::size_t count = basis.size() / user.size();
  std::vector<double> weights(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < user.size(); ++j) {
      weights[i] += static_cast<double>(user[j]) * basis[i * user.size() + j];
    }
    weights[i] /= std::sqrt(static_cast<double>(user.size()));
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& weight : weights) sum += weight = std::exp(weight - largest);
  for (double& weight : weights) weight /= sum;
  const bool sensible =
      std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0 && w <= 1; });
  if (!sensible) std::fill(weights.begin(), weights.end(), 1.0 / static_cast<double>(count));
  return weights;
}

std::vector<float> as_floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

std::vector<std::uint64_t> all_rows(const ReadableHistory& history) {
  std::vector<std::uint64_t> all;
  all.reserve(history.clicks.size());
  for (const CategorisedClick& click : history.clicks) all.push_back(click.item);
  return all;
}

}  // namespace

std::vector<float> newest_rows(const ReadableHistory& history, std::span<const std::uint64_t> chosen,
                               std::size_t count, std::size_t dimension) {
  chosen = chosen.last(std::min(chosen.size(), count));
  std::vector<float> rows;
  rows.reserve(chosen.size() * dimension);
  for (const std::uint64_t row : chosen) {
    const auto begin = history.vectors.begin() + static_cast<std::ptrdiff_t>(row * dimension);
    rows.insert(rows.end(), begin, begin + static_cast<std::ptrdiff_t>(dimension));
  }
  return rows;
}

std::vector<float> user_vector(const UserModel& model, const DevicePack& pack,
                               const ReadableHistory& history) {
  return model.encode(newest_rows(history, all_rows(history), pack.user_model.max_history, pack.dimension));
}

struct QueryMechanism::Parts {
  QuerySettings settings;
  std::string model;
  std::size_t dimension = 0;
  std::size_t max_history = 0;
  UserModel user_model;
  std::vector<float> basis, prototypes, anonymous;
  // One of the two, unless the query is on unprotected clicks.
  std::optional<PrivateAttention> attention;
  std::optional<PrototypeSelection> selection;

  bool by_coefficients() const { return settings.mechanism == "coefficients"; }

  Result<std::variant<std::vector<float>, std::uint32_t>> exact(std::span<const float> user) const {
    if (by_coefficients()) return as_floats(attention_of(user, basis));
    SOTTO_TRY(const auto similarities, cosine_similarities(prototypes, user));
    return static_cast<std::uint32_t>(std::max_element(similarities.begin(), similarities.end()) -
                                      similarities.begin());
  }

  Result<std::variant<std::vector<float>, std::uint32_t>> noisy(std::vector<float> clicks,
                                                                DeviceRandom random) const {
    if (attention) {
      SOTTO_TRY(const auto padded, attention->pad(clicks.size() / dimension, random));
      for (std::size_t i = 0; i < padded.size(); ++i) {
        if (padded[i] != 0) {
          std::copy(anonymous.begin(), anonymous.end(),
                    clicks.begin() + static_cast<std::ptrdiff_t>(i * dimension));
        }
      }
      SOTTO_TRY(const auto released,
                attention->release(attention_of(user_model.encode(clicks), basis), random));
      return as_floats(normalise_attention(released, AttentionActivation::softplus));
    }
    SOTTO_TRY(const auto similarities, cosine_similarities(prototypes, user_model.encode(clicks)));
    SOTTO_TRY(const std::uint64_t chosen, selection->choose(similarities, random));
    return static_cast<std::uint32_t>(chosen);
  }
};

Result<QueryMechanism> QueryMechanism::create(const QuerySettings& settings, const DevicePack& pack) {
  SOTTO_CHECK(check(pack));
  SOTTO_TRY(auto user_model, make_user_model(pack));
  Parts parts{settings,     pack.model,          pack.dimension,           pack.user_model.max_history,
              user_model,   pack.basis.floats(), pack.prototypes.floats(), pack.anonymous,
              std::nullopt, std::nullopt};
  const std::size_t choices = parts.by_coefficients() ? pack.basis.rows() : pack.prototypes.rows();
  if (choices < 2) {
    return bad_input("the pack has too few {} for this mechanism: choose the other one",
                     parts.by_coefficients() ? "basis vectors" : "prototypes");
  }
  if (settings.reads_everything()) {
    if (parts.by_coefficients()) {
      SOTTO_TRY(parts.attention, PrivateAttention::create({.mode = settings.guarantee_mode(),
                                                           .noise = settings.noise_kind(),
                                                           .basis_vectors = choices,
                                                           .clip = settings.clip,
                                                           .epsilon = settings.epsilon,
                                                           .delta = settings.delta,
                                                           .padding = settings.padding}));
    } else {
      SOTTO_TRY(parts.selection,
                PrototypeSelection::create(settings.prototype_rule(), settings.epsilon, choices));
    }
  }
  return QueryMechanism(std::make_shared<const Parts>(std::move(parts)));
}

std::optional<PrivacyEvent> QueryMechanism::event() const {
  if (parts_->attention) return parts_->attention->whole_history();
  if (parts_->selection) return parts_->selection->event();
  return std::nullopt;
}

Release QueryMechanism::release(const LedgerSettings& ledger) const {
  Release release;
  release.purpose = ReleasePurpose::serving;
  release.about = "recommendations";
  if (const auto whole = event()) {
    release.event = *whole;
    // A ledger that counts single clicks may use what padding gains for them.
    if (parts_->attention && ledger.unit == Unit::click) {
      if (const auto holds = parts_->attention->statement().holds) release.event = *holds;
    }
    return release;
  }
  release.event = {PureDp{kNoProtection}, Adjacency::replace_one, Unit::user};
  release.reads.emplace();
  const SensitivitySettings& sensitivity = ledger.sensitivity;
  for (std::size_t id = 0; id < sensitivity.categories().size(); ++id) {
    if (!sensitivity.is_sensitive(static_cast<CategoryId>(id)))
      release.reads->push_back(sensitivity.categories()[id]);
  }
  return release;
}

Result<DrawnQuery> QueryMechanism::draw(const ReadableHistory& history, DeviceRandom random) const {
  if (!event()) return bad_input("this query reads unprotected clicks only");
  DrawnQuery query{parts_->model, {}};
  SOTTO_TRY(
      query.answer,
      parts_->noisy(newest_rows(history, all_rows(history), parts_->max_history, parts_->dimension), random));
  return query;
}

Result<DrawnQuery> QueryMechanism::draw_unprotected(const ReadableHistory& history,
                                                    const SensitivitySettings& sensitivity) const {
  // Left out before the newest are taken: how many were left out must not show.
  const auto unprotected = UnprotectedClicks::from(history.clicks, sensitivity);
  DrawnQuery query{parts_->model, {}};
  SOTTO_TRY(query.answer, parts_->exact(parts_->user_model.encode(newest_rows(
                              history, unprotected.items(), parts_->max_history, parts_->dimension))));
  return query;
}

}  // namespace sotto
