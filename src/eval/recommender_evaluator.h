#pragma once
// Test metrics of a model. Two towers: every item encoded once, every distinct history once, then dot
// products; other models score chunks of pairs.

#include <cstdint>
#include <span>

#include "data/dataset.h"
#include "metrics/ranking.h"
#include "model/news/ranking_model.h"

namespace sotto {

// Reads at most the last `max_history` clicks of a history. No dropout, no gradients.
MeanImpressionMetrics evaluate_recommender(RankingModel& model, const Dataset& dataset,
                                           std::span<const std::uint32_t> impressions,
                                           std::size_t max_history);

}  // namespace sotto
