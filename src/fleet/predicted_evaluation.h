#pragma once
// What an evaluation round would say of a version: the devices' own code over readers of a data set, their
// sums with noise as devices add it, and without a network between them. With the same seed a fleet and a
// prediction give the same bits.

#include <optional>

#include "data/dataset.h"
#include "device/rounds/round_inputs.h"
#include "rounds/evaluation.h"

namespace sotto::fleet {

struct PredictedEvaluation {
  std::optional<rounds::VersionEstimate> noised;  // none: the noise hides the pages of so few devices
  double auc = 0;                                 // of the same pages without noise and rounding
  std::uint64_t pages = 0;                        // that count
};

// readers: of a campaign that measures versions, as many as its cohort has. number: of the version.
Result<PredictedEvaluation> predict_evaluation(const data::Dataset& dataset,
                                               std::span<const data::UserId> readers,
                                               const rounds::Campaign& campaign,
                                               const local::LocalTrainer& trainer,
                                               const device::FetchedModel& model, std::uint64_t number,
                                               std::uint64_t seed, const std::function<bool()>& cancelled);

}  // namespace sotto::fleet
