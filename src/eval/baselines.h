#pragma once
// The trivial rankings that every model is shown beside.

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "metrics/ranking.h"

namespace sotto {

// Smoothed click rate of every item in the training impressions. Other splits are never looked at.
std::vector<float> training_click_rates(const Dataset& dataset);

// Highest click rate in training first.
MeanImpressionMetrics evaluate_popularity(const Dataset& dataset, std::span<const std::uint32_t> impressions);

// The exact expectation over random orders, which is what tied scores give: no seed, no sampling error.
MeanImpressionMetrics evaluate_random(const Dataset& dataset, std::span<const std::uint32_t> impressions);

}  // namespace sotto
