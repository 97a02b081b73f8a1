#pragma once
// Readers of a data set as people with devices: what their devices were shown, and how well a version of the
// flagship ranks what they clicked afterwards.

#include "data/dataset.h"
#include "device/history/impression_store.h"
#include "metrics/mean.h"
#include "rounds/model_version.h"

namespace sotto::fleet {

// Readers who have something to learn from, ascending; at most `most`.
std::vector<data::UserId> readers_of(const data::Dataset& dataset, std::size_t most);

// The training impressions of a reader with a click and something else, as its device keeps them.
std::vector<device::StoredImpression> shown_to(const data::Dataset& dataset, data::UserId reader);

struct MeasuredVersion {
  metrics::MeanImpressionMetrics over;
  std::vector<double> aucs;  // of each impression that has one, always in the same order
};

// Of a version over the test impressions of these readers, each ranked as its device would, without personal
// adaptation. The fleet's own view: no coordinator can compute it.
Result<MeasuredVersion> measure(const data::Dataset& dataset, std::span<const data::UserId> readers,
                                const rounds::ModelVersion& version, const rounds::ItemTable& items,
                                std::size_t max_history);

// How much better the second ranks the same impressions than the first. Its error is that of the differences:
// what makes an impression easy or hard for both does not count.
metrics::MeanAndError gain_between(const MeasuredVersion& before, const MeasuredVersion& after);

}  // namespace sotto::fleet
