#pragma once
// Split training with user-level distributed differential privacy. Every device receives the vectors of the
// whole catalogue and returns gradients for all of them, zero for those it did not read: which coordinates
// are sent depends on nobody. Clipped as one vector, summed with noise (private_source.h).

#include "fl/participation.h"
#include "fl/round_update.h"
#include "fl/split_training.h"
#include "secagg/vectors/encoding_plan.h"

namespace sotto {

// Refers to the training.
class SplitPrivateSource final : public UpdateSource {
 public:
  SplitPrivateSource(EncodingPlan plan, CohortSampler sampler, std::uint64_t participations,
                     SplitTraining& training, std::uint64_t catalogue, std::uint64_t seed);
  // Fails when more devices stay away than the noise allows for.
  Result<RoundUpdate> round(std::uint32_t round) override;

 private:
  EncodingPlan plan_;
  CappedCohorts cohorts_;
  SplitTraining& training_;
  std::vector<ItemId> items_;
  std::uint64_t seed_;
};

}  // namespace sotto
