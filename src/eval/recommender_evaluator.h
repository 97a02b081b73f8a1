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

// Reads at most the last `max_history` clicks of a history. No dropout, no gradients.
metrics::MeanImpressionMetrics evaluate_recommender(model::RankingModel& model, const data::Dataset& dataset,
                                                    std::span<const std::uint32_t> impressions,
                                                    std::size_t max_history);
// The same, and the metrics of every impression by itself.
metrics::MeanImpressionMetrics evaluate_each(model::RankingModel& model, const data::Dataset& dataset,
                                             std::span<const std::uint32_t> impressions,
                                             std::size_t max_history, EachImpression* each);

// Test metrics when the server ranks by one private answer per reader: which of K public prototypes the
// reader resembles, by k-ary randomised response, put through Bayes' rule over simulated readers
// (prototype_posterior.cpp). Simulated readers come from the items alone: nothing of a real reader is used
// but the answer.

// Refuses queries without prototypes or budget, and models without vectors of items and readers.
Result<metrics::MeanImpressionMetrics> evaluate_served(
    model::RankingModel& model, const data::Dataset& dataset, std::span<const std::uint32_t> impressions,
    std::size_t max_history, const recipes::PrototypeQuery& query, std::uint64_t seed);

}  // namespace sotto::eval
