#pragma once
// The live items as one model sees them: their vectors and the indexes over them.
//
// follow() is called by one thread at a time; everything else is safe from any number of threads meanwhile.

#include <shared_mutex>
#include <unordered_map>

#include "serving/catalogue/catalogue.h"
#include "serving/pool/serving_model.h"
#include "serving/prototypes/prototype_index.h"

namespace sotto::serving {

// What a device may ask. Exactly one of coefficients and prototypes, or neither for the public list.
struct PoolQuery {
  std::vector<float> coefficients;
  std::vector<std::uint32_t> prototypes;
  std::uint32_t count = 10;
  ItemFilter filter;
};

class ModelPool {
 public:
  static Result<std::unique_ptr<ModelPool>> create(std::shared_ptr<const ServingModel> model);

  const ServingModel& model() const { return *model_; }
  // Vectors for `items`, from the items themselves where this model made them, else from its encoder.
  Result<std::vector<std::vector<float>>> vectors_of(std::span<const CatalogueItem> items) const;
  // vectors: one for every item added.
  Status follow(const CatalogueChange& change, std::vector<std::vector<float>> vectors);

  // What the model makes of a device's query, to be searched for.
  Result<PoolQuery> query_for(const privacy::ServingQuery& query, std::uint32_t count,
                              const ItemFilter& filter) const;
  // Everything that search() refuses.
  Status check_query(const PoolQuery& query) const;
  Result<std::vector<ScoredItem>> search(const PoolQuery& query) const;
  // Coefficient queries of one count without filter, each checked.
  Result<std::vector<std::vector<ScoredItem>>> search_batch(std::span<const float> coefficients,
                                                            std::uint32_t count) const;
  std::size_t size() const { return lists_->size(); }
  std::shared_ptr<const std::vector<float>> vector_of(ItemNumber item) const;  // null when it is gone

 private:
  ModelPool(std::shared_ptr<const ServingModel> model, std::unique_ptr<LiveIndex> exact,
            std::unique_ptr<PrototypeIndex> lists)
      : model_(std::move(model)), exact_(std::move(exact)), lists_(std::move(lists)) {}

  std::shared_ptr<const ServingModel> model_;
  std::unique_ptr<LiveIndex> exact_;  // null without basis vectors
  std::unique_ptr<PrototypeIndex> lists_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<ItemNumber, std::shared_ptr<const std::vector<float>>> vectors_;
};

// Non-negative with sum 1, up to the rounding of single precision.
Status check_mixture(std::span<const float> coefficients);

}  // namespace sotto::serving
