#pragma once
// Test metrics of a news model: every item encoded once, every distinct history once, then dot products.

#include <cstdint>
#include <span>

#include "data/dataset.h"
#include "metrics/ranking.h"
#include "model/news_recommender.h"

namespace sotto {

// Reads at most the last `max_history` clicks of a history. No dropout, no gradients.
MeanImpressionMetrics evaluate_recommender(NewsRecommender& model, const Dataset& dataset,
                                           std::span<const std::uint32_t> impressions,
                                           std::size_t max_history);

}  // namespace sotto
