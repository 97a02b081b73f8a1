#pragma once
// One model by both families of numbers, whichever its own is: those of impressions (what was clicked against
// what was shown beside it) and those of all items (what was taken against the whole catalogue).
//
// A model of impressions ranks the clicked items of every test impression among all items that the reader had
// not clicked before. A model of interactions ranks every held-out row among a few items that its user never
// touched, drawn by a fixed seed, as 'sotto data view' makes an impression of it. Nothing is trained, and the
// same draws are made in every run, so that runs of one data set can be compared.

#include "eval/training_run.h"

namespace sotto::eval {

struct BothFamilies {
  bool of_impressions = false;  // the family that the recipe trains on
  metrics::MeanImpressionMetrics impressions;
  metrics::HeldOutReport all_items;  // of impressions: one entry of `each` for every one of them
};

// Ranking all items for every test impression takes a while: job.test_impressions makes it fewer.
Result<BothFamilies> evaluate_both(EvaluateJob job, const data::Dataset& dataset);

// Its part of a model of impressions: one entry of `each` for every impression with a click.
metrics::HeldOutReport among_all_items(model::RankingModel& model, const data::Dataset& dataset,
                                       std::span<const std::uint32_t> impressions, std::size_t max_history);

// {"impressions": {...}, "all_items": {...}}
nlohmann::json to_json(const BothFamilies& both);

}  // namespace sotto::eval
