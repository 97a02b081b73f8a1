#include "serving/pool/model_pool.h"

#include <cmath>
#include <mutex>

namespace sotto::serving {

namespace {

IndexUpdate project(const Projection& projection, const CatalogueChange& change,
                    std::span<const std::vector<float>> vectors) {
  IndexUpdate update;
  update.removals = change.removed;
  update.rows.dimension = projection.directions();
  std::vector<float> products(projection.directions());
  for (std::size_t i = 0; i < change.added.size(); ++i) {
    projection.apply(vectors[i], products);
    update.rows.add(change.added[i]->number, change.added[i]->tag, products);
  }
  return update;
}

}  // namespace

Status check_mixture(std::span<const float> coefficients) {
  double sum = 0;
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    if (!(coefficients[i] >= 0) || !std::isfinite(coefficients[i])) {
      return bad_input("coefficient {} is {}: it must be a number of at least 0", i, coefficients[i]);
    }
    sum += coefficients[i];
  }
  if (std::abs(sum - 1) > 1e-3) return bad_input("the coefficients sum to {:.6g}: they must sum to 1", sum);
  return {};
}

Result<std::unique_ptr<ModelPool>> ModelPool::create(std::shared_ptr<const ServingModel> model) {
  std::unique_ptr<LiveIndex> exact;
  if (model->basis()) {
    SOTTO_TRY(exact, LiveIndex::create(model->basis()->directions()));
  }
  SOTTO_TRY(auto lists, PrototypeIndex::create(model->lists().directions()));
  return std::unique_ptr<ModelPool>(new ModelPool(std::move(model), std::move(exact), std::move(lists)));
}

Result<std::vector<std::vector<float>>> ModelPool::vectors_of(std::span<const CatalogueItem> items) const {
  std::vector<std::vector<float>> vectors(items.size());
  std::vector<CatalogueItem> unknown;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].vector.empty() && items[i].encoded_by == model_->version()) {
      vectors[i] = items[i].vector;
    } else {
      unknown.push_back(items[i]);
      places.push_back(i);
    }
  }
  if (!unknown.empty()) {
    if (model_->encoder() == nullptr) {
      return bad_input("item {} has no vector of model {}, and this server has no encoder: send the vector",
                       places.front(), model_->version());
    }
    SOTTO_TRY(auto encoded, model_->encoder()->encode(unknown));
    if (encoded.size() != unknown.size()) return failed("the encoder left items out");
    for (std::size_t i = 0; i < places.size(); ++i) vectors[places[i]] = std::move(encoded[i]);
  }
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (vectors[i].size() != model_->dimension()) {
      return bad_input("the vector of item {} has {} numbers where model {} has {}", i, vectors[i].size(),
                       model_->version(), model_->dimension());
    }
    if (auto good = check_vector(vectors[i]); !good) {
      return tl::unexpected(std::move(good).error().in(fmt::format("the vector of item {}", i)));
    }
  }
  return vectors;
}

Status ModelPool::follow(const CatalogueChange& change, std::vector<std::vector<float>> vectors) {
  if (exact_) SOTTO_CHECK(exact_->update(project(*model_->basis(), change, vectors)));
  SOTTO_CHECK(lists_->update(project(model_->lists(), change, vectors)));
  const std::unique_lock lock(mutex_);
  for (const ItemNumber item : change.removed) vectors_.erase(item);
  for (std::size_t i = 0; i < change.added.size(); ++i) {
    const StoredItemPtr& stored = change.added[i];
    // Where the item itself holds this vector, its memory serves both.
    const bool own = stored->item.encoded_by == model_->version();
    vectors_[stored->number] = own ? std::shared_ptr<const std::vector<float>>(stored, &stored->item.vector)
                                   : std::make_shared<const std::vector<float>>(std::move(vectors[i]));
  }
  return {};
}

Result<PoolQuery> ModelPool::query_for(const privacy::ServingQuery& query, std::uint32_t count,
                                       const ItemFilter& filter) const {
  const auto estimate = model_->estimate(query);
  if (!estimate) return tl::unexpected(estimate.error());
  PoolQuery asked{.count = count, .filter = filter};
  if (const auto* weights = std::get_if<privacy::BasisWeights>(&*estimate)) {
    asked.coefficients = *weights;
  } else if (const auto* numbers = std::get_if<privacy::PrototypeNumbers>(&*estimate)) {
    asked.prototypes = *numbers;
  }
  return asked;
}

Status ModelPool::check_query(const PoolQuery& query) const {
  if (query.count < 1 || query.count > most_answers) {
    return bad_input("{} answers were asked for: ask for 1 to {}", query.count, most_answers);
  }
  for (const std::uint32_t prototype : query.prototypes) {
    if (prototype < model_->prototypes()) continue;
    return bad_input("prototype {} was named where model {} has {}, counted from 0", prototype,
                     model_->version(), model_->prototypes());
  }
  if (query.coefficients.empty()) return {};
  if (!exact_) return bad_input("model {} has no basis vectors: ask by prototypes", model_->version());
  if (query.coefficients.size() != exact_->dimension()) {
    return bad_input("{} coefficients were sent where model {} has {} basis vectors",
                     query.coefficients.size(), model_->version(), exact_->dimension());
  }
  return check_mixture(query.coefficients);
}

Result<std::vector<ScoredItem>> ModelPool::search(const PoolQuery& query) const {
  SOTTO_CHECK(check_query(query));
  if (!query.coefficients.empty()) return exact_->search(query.coefficients, query.count, query.filter);
  if (!query.prototypes.empty()) return lists_->best_of(query.prototypes, query.count, query.filter);
  const auto average_user = static_cast<std::uint32_t>(model_->prototypes());
  return lists_->best_of({{average_user}}, query.count, query.filter);
}

Result<std::vector<std::vector<ScoredItem>>> ModelPool::search_batch(std::span<const float> coefficients,
                                                                     std::uint32_t count) const {
  if (!exact_) return bad_input("model {} has no basis vectors: ask by prototypes", model_->version());
  return exact_->search_batch(coefficients, count);
}

std::shared_ptr<const std::vector<float>> ModelPool::vector_of(ItemNumber item) const {
  const std::shared_lock lock(mutex_);
  const auto at = vectors_.find(item);
  return at == vectors_.end() ? nullptr : at->second;
}

}  // namespace sotto::serving
