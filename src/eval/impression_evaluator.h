#pragma once
// Mean ranking metrics over the impressions of a data set, on all threads. The result does not depend on how
// many; after an interrupt it means nothing.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "metrics/ranking.h"

namespace sotto::eval {

// Fills scores[j] for impression.shown[j]; `position` is the place in the list of impressions. Called from
// several threads at once.
using ImpressionScorer =
    std::function<void(std::size_t position, const data::Impression& impression, std::span<float> scores)>;

// One value per entry of the list of impressions, nothing where there is no order to judge.
using EachImpression = std::vector<std::optional<metrics::ImpressionMetrics>>;

// each: filled when given.
metrics::MeanImpressionMetrics evaluate_impressions(const data::Dataset& dataset,
                                                    std::span<const std::uint32_t> impressions,
                                                    const ImpressionScorer& scorer,
                                                    EachImpression* each = nullptr);

// Score = dot product of user and item vector. item_vectors: N x d, one row per item of the catalogue;
// user_vectors: one row of d per entry of `impressions`, in that order.
metrics::MeanImpressionMetrics evaluate_impressions(const data::Dataset& dataset,
                                                    std::span<const std::uint32_t> impressions,
                                                    std::span<const float> item_vectors,
                                                    std::span<const float> user_vectors, std::size_t d,
                                                    EachImpression* each = nullptr);

// The same score for an item whoever looks: item_scores[N].
metrics::MeanImpressionMetrics evaluate_static_scores(const data::Dataset& dataset,
                                                      std::span<const std::uint32_t> impressions,
                                                      std::span<const float> item_scores);

// All impressions of one split.
std::vector<std::uint32_t> impressions_of_split(const data::Dataset& dataset, data::Split split);

// The trivial rankings that every model is shown beside.

// Smoothed click rate of every item in the training impressions. Other splits are never looked at.
std::vector<float> training_click_rates(const data::Dataset& dataset);

// Highest click rate in training first.
metrics::MeanImpressionMetrics evaluate_popularity(const data::Dataset& dataset,
                                                   std::span<const std::uint32_t> impressions);

// The exact expectation over random orders, which is what tied scores give: no seed, no sampling error.
metrics::MeanImpressionMetrics evaluate_random(const data::Dataset& dataset,
                                               std::span<const std::uint32_t> impressions);

}  // namespace sotto::eval
