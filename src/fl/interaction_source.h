#pragma once
// Federated rounds on interaction data without noise: θ0 ← θ0 + α3 · mean of the cohort's differences, by
// whichever server optimiser the recipe names (sgd with learning_rate α3 is PrivRec's).

#include "fl/cohort_sampler.h"
#include "fl/interaction_training.h"
#include "fl/round_update.h"

namespace sotto {

// Refers to the training.
class InteractionSource final : public UpdateSource {
 public:
  InteractionSource(CohortSampler sampler, InteractionTraining& training)
      : sampler_(std::move(sampler)), training_(training) {}
  Result<RoundUpdate> round(std::uint32_t round) override;

 private:
  CohortSampler sampler_;
  InteractionTraining& training_;
};

}  // namespace sotto
