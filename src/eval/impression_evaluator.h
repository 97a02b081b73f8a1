#pragma once
// Mean ranking metrics over the impressions of a data set, on all threads. The result does not depend on how
// many.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "metrics/ranking.h"

namespace sotto {

// Fills scores[j] for impression.shown[j]; `position` is the place in the list of impressions. Called from
// several threads at once.
using ImpressionScorer =
    std::function<void(std::size_t position, const Impression& impression, std::span<float> scores)>;

MeanImpressionMetrics evaluate_impressions(const Dataset& dataset, std::span<const std::uint32_t> impressions,
                                           const ImpressionScorer& scorer);

// Score = dot product of user and item vector. item_vectors: N x d, one row per item of the catalogue;
// user_vectors: one row of d per entry of `impressions`, in that order.
MeanImpressionMetrics evaluate_impressions(const Dataset& dataset, std::span<const std::uint32_t> impressions,
                                           std::span<const float> item_vectors,
                                           std::span<const float> user_vectors, std::size_t d);

// The same score for an item whoever looks: item_scores[N].
MeanImpressionMetrics evaluate_static_scores(const Dataset& dataset,
                                             std::span<const std::uint32_t> impressions,
                                             std::span<const float> item_scores);

// All impressions of one split.
std::vector<std::uint32_t> impressions_of_split(const Dataset& dataset, Split split);

// The trivial rankings that every model is shown beside.

// Smoothed click rate of every item in the training impressions. Other splits are never looked at.
std::vector<float> training_click_rates(const Dataset& dataset);

// Highest click rate in training first.
MeanImpressionMetrics evaluate_popularity(const Dataset& dataset, std::span<const std::uint32_t> impressions);

// The exact expectation over random orders, which is what tied scores give: no seed, no sampling error.
MeanImpressionMetrics evaluate_random(const Dataset& dataset, std::span<const std::uint32_t> impressions);

}  // namespace sotto
