#pragma once
// Federated rounds with user-level distributed differential privacy, in one process: every device's update is
// clipped, rounded to a grid, given its share of the noise and added modulo 2^b; the server decodes the noisy
// sum and divides by a fixed public number.
//
// A user's update is the sum of the gradients over its clicks, clipped as one vector. A device that has taken
// part as often as it may stays away when it is drawn again, and counts as dropped.

#include "fl/news_training.h"
#include "fl/participation.h"
#include "fl/round_update.h"
#include "secagg/vectors/encoding_plan.h"

namespace sotto {

// Refers to the training.
class PrivateSource final : public UpdateSource {
 public:
  PrivateSource(EncodingPlan plan, CohortSampler sampler, std::uint64_t participations,
                NewsTraining& training, std::uint64_t seed)
      : plan_(std::move(plan)),
        cohorts_(std::move(sampler), participations),
        training_(training),
        seed_(seed) {}
  // Fails when more devices stay away than the noise allows for.
  Result<RoundUpdate> round(std::uint32_t round) override;

 private:
  EncodingPlan plan_;
  CappedCohorts cohorts_;
  NewsTraining& training_;
  std::uint64_t seed_;
};

}  // namespace sotto
