#pragma once
// Test metrics when the server ranks by one private answer per reader: which of K public prototypes the
// reader resembles, by k-ary randomised response, put through Bayes' rule over simulated readers
// (prototype_posterior.cpp). Simulated readers come from the items alone: nothing of a real reader is used
// but the answer.

#include "recipes/recipe.h"

namespace sotto {

// Refuses queries without prototypes or budget, and models without vectors of items and readers.
Result<MeanImpressionMetrics> evaluate_served(RankingModel& model, const Dataset& dataset,
                                              std::span<const std::uint32_t> impressions,
                                              std::size_t max_history, const PrototypeQuery& query,
                                              std::uint64_t seed);

}  // namespace sotto
