#pragma once
// Readers of a data set as people with devices: what their devices have seen, and how well a version ranks
// for them what they chose afterwards. The fleet's own view: no coordinator can compute it.

#include <variant>

#include "data/dataset.h"
#include "device/rounds/round_inputs.h"
#include "metrics/held_out_report.h"
#include "metrics/mean.h"

namespace sotto::fleet {

// Readers who have something to learn from, ascending; at most `most`. Of interactions those who train in
// PrivRec's protocol (data/splits.h) by this seed, and the others test; where the data says itself which rows
// test, everybody.
Result<std::vector<data::UserId>> readers_of(const data::Dataset& dataset, std::size_t most,
                                             std::uint64_t seed);

// What a reader's device has from training.
struct Memory {
  std::vector<device::StoredImpression> impressions;  // with a click and something else
  device::StoredRows rows;
};
Memory memory_of(const data::Dataset& dataset, data::UserId reader);

struct ImpressionAccuracy {
  metrics::MeanImpressionMetrics over;
  std::vector<double> aucs;  // of each impression that has one, always in the same order
};
using Accuracy = std::variant<ImpressionAccuracy, metrics::HeldOutReport>;

// Of a version, as devices rank: over the test impressions of all readers, those too who have nothing to
// learn from, as 'sotto train' tests; of interactions over the users who test, each with one half of its rows
// on its device, which tunes itself first where the recipe says so.
Result<Accuracy> measure(const data::Dataset& dataset, const local::LocalTrainer& trainer,
                         const device::FetchedModel& model, std::uint64_t seed,
                         const std::function<bool()>& cancelled);

// How much better the second version ranks than the first for the same impressions, or users: in AUC, or
// Hits@10. Its error is that of the differences: what makes one easy or hard for both does not count.
metrics::MeanAndError gain_between(const Accuracy& before, const Accuracy& after);

}  // namespace sotto::fleet
