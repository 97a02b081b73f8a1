#include "device/query/query_mechanism.h"

#include <algorithm>

namespace sotto {

namespace {

// A query on unprotected clicks is exact. Were it ever priced as if it touched protected ones, no budget
// could pay for it.
constexpr double kNoProtection = 1e9;

std::vector<std::uint64_t> all_rows(const ReadableHistory& history) {
  std::vector<std::uint64_t> all;
  all.reserve(history.clicks.size());
  for (const CategorisedClick& click : history.clicks) all.push_back(click.item);
  return all;
}

}  // namespace

PublicVectors public_vectors(const DevicePack& pack) {
  return {pack.dimension, pack.basis.floats(), pack.prototypes.floats(), pack.average_user};
}

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
  std::string model;
  std::size_t dimension = 0;
  std::size_t max_history = 0;
  UserModel user_model;
  std::vector<float> anonymous;
  std::unique_ptr<const ServingMechanism> mechanism;
};

Result<QueryMechanism> QueryMechanism::create(const QuerySettings& settings, const DevicePack& pack,
                                              ServingMechanisms table) {
  SOTTO_CHECK(check(pack));
  SOTTO_TRY(auto user_model, make_user_model(pack));
  SOTTO_TRY(const auto* entry, find_mechanism(table, settings.mechanism));
  SOTTO_TRY(auto mechanism, entry->make(settings.of_mechanism(),
                                        std::make_shared<const PublicVectors>(public_vectors(pack))));
  return QueryMechanism(
      std::make_shared<const Parts>(Parts{pack.model, pack.dimension, pack.user_model.max_history, user_model,
                                          pack.anonymous, std::move(mechanism)}));
}

std::optional<PrivacyEvent> QueryMechanism::event() const {
  const auto price = parts_->mechanism->price();
  return price ? std::optional(price->history) : std::nullopt;
}

Release QueryMechanism::release(const LedgerSettings& ledger) const {
  Release release;
  release.purpose = ReleasePurpose::serving;
  release.about = "recommendations";
  if (const auto price = parts_->mechanism->price()) {
    release.event = ledger.unit == Unit::click ? price->click : price->history;
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
  std::vector<float> clicks = newest_rows(history, all_rows(history), parts_->max_history, parts_->dimension);
  SOTTO_TRY(const auto padded, parts_->mechanism->pad(clicks.size() / parts_->dimension, random));
  for (std::size_t i = 0; i < padded.size(); ++i) {
    if (padded[i] == 0) continue;
    std::copy(parts_->anonymous.begin(), parts_->anonymous.end(),
              clicks.begin() + static_cast<std::ptrdiff_t>(i * parts_->dimension));
  }
  SOTTO_TRY(auto answer, parts_->mechanism->draw(parts_->user_model.encode(clicks), random));
  return DrawnQuery{parts_->model, std::move(answer)};
}

Result<DrawnQuery> QueryMechanism::draw_unprotected(const ReadableHistory& history,
                                                    const SensitivitySettings& sensitivity) const {
  // Left out before the newest are taken: how many were left out must not show.
  const auto unprotected = UnprotectedClicks::from(history.clicks, sensitivity);
  SOTTO_TRY(auto answer, parts_->mechanism->exact(parts_->user_model.encode(newest_rows(
                             history, unprotected.items(), parts_->max_history, parts_->dimension))));
  return DrawnQuery{parts_->model, std::move(answer)};
}

}  // namespace sotto
