#pragma once
// Test metrics of a model. Two towers: every item encoded once, every distinct history once, then dot
// products; other models score chunks of pairs.

#include <cstdint>
#include <span>

#include "data/dataset.h"
#include "eval/impression_evaluator.h"
#include "metrics/ranking.h"
#include "model/news/ranking_model.h"
#include "recipes/recipe.h"

namespace sotto::eval {

// Reads at most the last `max_history` clicks of a history. No dropout, no gradients. After an interrupt all
// come back soon, with numbers that mean nothing.
metrics::MeanImpressionMetrics evaluate_recommender(model::RankingModel& model, const data::Dataset& dataset,
                                                    std::span<const std::uint32_t> impressions,
                                                    std::size_t max_history);
// The same behind a bar called "testing".
metrics::MeanImpressionMetrics evaluate_with_progress(model::RankingModel& model,
                                                      const data::Dataset& dataset,
                                                      std::span<const std::uint32_t> impressions,
                                                      std::size_t max_history);
// That, and the metrics of every impression by itself.
metrics::MeanImpressionMetrics evaluate_each(model::RankingModel& model, const data::Dataset& dataset,
                                             std::span<const std::uint32_t> impressions,
                                             std::size_t max_history, EachImpression* each);

// Test metrics when the server ranks by one private answer per reader, as `sotto serve` does for this model:
// the codebook of its pack, made from the items alone, the answer that a device draws by the table of serving
// mechanisms, the server's estimate of it with the average share that `sotto serve --epsilon` sets. Devices
// ask with the shared user model, which is what a pack holds.

// Refuses queries without prototypes or budget, and models without vectors of items and readers.
Result<metrics::MeanImpressionMetrics> evaluate_served(
    model::RankingModel& model, const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
    std::size_t max_history, const recipes::PrototypeQuery& query, std::uint64_t seed);

}  // namespace sotto::eval
