#pragma once
// Federated rounds with user-level distributed differential privacy, in one process: every device's update is
// clipped, rounded to a grid, given its share of the noise and added modulo 2^b; the server decodes the noisy
// sum and divides by a fixed public number. The integer arithmetic is that of the protocol in secagg; masks
// are left out because they cancel.
//
// A user's update is the sum of the gradients over its clicks, clipped as one vector. A device that has taken
// part as often as it may stays away when it is drawn again, and counts as dropped.

#include <unordered_map>
#include <vector>

#include "fl/cohort_sampler.h"
#include "fl/news_training.h"
#include "fl/round_update.h"
#include "secagg/vectors/encoding_plan.h"

namespace sotto {

// Refers to the training. Draws are addressed by (seed, round, user), so a round can be asked for again.
class PrivateSource final : public UpdateSource {
 public:
  PrivateSource(EncodingPlan plan, CohortSampler sampler, std::uint64_t participations,
                NewsTraining& training, std::uint64_t seed);
  // Fails when more devices stay away than the noise allows for.
  Result<RoundUpdate> round(std::uint32_t round) override;

 private:
  std::vector<UserId> willing(std::uint32_t round);

  EncodingPlan plan_;
  CohortSampler sampler_;
  std::uint64_t participations_;
  std::unordered_map<UserId, std::uint64_t> taken_part_;  // in the first `counted_` rounds
  std::uint32_t counted_ = 0;
  NewsTraining& training_;
  std::uint64_t seed_;
};

}  // namespace sotto
