#pragma once
// The trivial rankings that every model is shown beside.

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "metrics/ranking.h"

namespace sotto {

// Clicks per item in the training impressions. Clicks of other splits are never counted.
std::vector<float> training_clicks(const Dataset& dataset);

// Most clicked in training first; items never clicked there tie.
MeanImpressionMetrics evaluate_popularity(const Dataset& dataset, std::span<const std::uint32_t> impressions);

// The exact expectation over random orders, which is what tied scores give: no seed, no sampling error.
MeanImpressionMetrics evaluate_random(const Dataset& dataset, std::span<const std::uint32_t> impressions);

}  // namespace sotto
