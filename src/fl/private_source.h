#pragma once
// Federated rounds with user-level distributed differential privacy, in one process: every device's update is
// clipped, rounded to a grid, given its share of the noise and added modulo 2^b; the server decodes the noisy
// sum and divides by a fixed public number.
//
// A user's update (of news: the sum of the gradients over its clicks) is clipped as one vector. A device that
// has taken part as often as it may stays away when it is drawn again, and counts as dropped.

#include "fl/participation.h"
#include "fl/round_update.h"
#include "fl/user_updates.h"
#include "secagg/vectors/encoding_plan.h"

namespace sotto {

// A clipping bound that follows a quantile of the users' norms (Andrew et al. 2021): the plan's clip is 1, in
// units of the bound, and its clip bit says inside the same noisy sum how many users were within it.
//   S ← max(smallest, S − rate · (share within − quantile))
struct BoundRule {
  double initial = 1, smallest = 0, quantile = 0, rate = 0;
};

// Refers to the training.
class PrivateSource final : public UpdateSource {
 public:
  PrivateSource(EncodingPlan plan, CohortSampler sampler, std::uint64_t participations, UserUpdates& training,
                std::uint64_t seed)
      : plan_(std::move(plan)),
        cohorts_(std::move(sampler), participations),
        training_(training),
        seed_(seed) {}
  // For plans with a clip bit.
  void follow(const BoundRule& rule);
  // Fails when more devices stay away than the noise allows for.
  Result<RoundUpdate> round(std::uint32_t round) override;
  std::vector<torch::Tensor*> state() override;
  double bound() const { return bound_.item<double>(); }

 private:
  EncodingPlan plan_;
  CappedCohorts cohorts_;
  UserUpdates& training_;
  std::uint64_t seed_;
  BoundRule rule_;
  torch::Tensor bound_ = torch::ones({1}, torch::kFloat64);  // one unit of the plan
};

}  // namespace sotto
