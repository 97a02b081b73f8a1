#pragma once
// Federated rounds in one process: sampler -> local update -> transforms -> aggregator.

#include "fl/aggregator.h"
#include "fl/cohort_sampler.h"
#include "fl/news_training.h"
#include "fl/round_update.h"
#include "fl/update_transform.h"

namespace sotto {

struct FederatedSettings {
  std::int64_t cohort = 50, minimum_cohort = 2, local_epochs = 0, local_batch = 16;
  double local_learning_rate = 0.05, clip_norm = 0;
  std::string mode = "sound";
  void bind(SettingsTable& table);
};

// Without transforms and local steps only the sum over the cohort is computed; otherwise every user's own
// update.
class FederatedSource final : public UpdateSource {
 public:
  FederatedSource(const FederatedSettings& settings, CohortSampler sampler, UpdateTransforms transforms,
                  NewsTraining& training);
  Result<RoundUpdate> round(std::uint32_t round) override;

 private:
  Status aggregate_together(std::uint32_t round, const std::vector<UserId>& cohort, WeightedMean& mean,
                            RoundUpdate& update);
  Status aggregate_apart(std::uint32_t round, const std::vector<UserId>& cohort, WeightedMean& mean,
                         RoundUpdate& update);

  double loss_weight(std::uint64_t samples) const;

  FederatedSettings settings_;
  Weighting weighting_;
  CohortSampler sampler_;
  UpdateTransforms transforms_;
  NewsTraining& training_;
};

// All transforms the settings ask for.
UpdateTransforms make_transforms(const FederatedSettings& settings);

}  // namespace sotto
