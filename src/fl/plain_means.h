#pragma once
// Federated rounds in one process in which the server averages what it is sent, without encoding or noise: a
// sampled cohort, and the mean of its updates by one of the rules below.

#include <functional>
#include <span>

#include "base/settings.h"
#include "fl/cohort_sampler.h"
#include "fl/factorisation_training.h"
#include "fl/interaction_training.h"
#include "fl/news_training.h"
#include "fl/round_update.h"
#include "fl/update_transform.h"

namespace sotto {

// The mean of a cohort's updates and what it cost; pure in (current parameters, round, cohort).
using CohortMean = std::function<Result<RoundUpdate>(std::uint32_t round, const std::vector<UserId>& cohort)>;

class PlainMeans final : public UpdateSource {
 public:
  PlainMeans(CohortSampler sampler, CohortMean mean) : sampler_(std::move(sampler)), mean_(std::move(mean)) {}
  Result<RoundUpdate> round(std::uint32_t round) override { return mean_(round, sampler_.sample(round)); }

 private:
  CohortSampler sampler_;
  CohortMean mean_;
};

struct FederatedSettings {
  std::int64_t cohort = 50, minimum_cohort = 2, local_epochs = 0, local_batch = 16;
  double local_learning_rate = 0.05, clip_norm = 0;
  std::string mode = "sound";
  void bind(SettingsTable& table);
};

// All transforms the settings ask for.
UpdateTransforms make_transforms(const FederatedSettings& settings);

// News models: gradients, or differences of weights after local epochs, weighted by clicks. Without
// transforms and local steps only the sum over the cohort is computed; otherwise every user's own update.
// The rules refer to the training.
CohortMean news_mean(const FederatedSettings& settings, UpdateTransforms transforms, NewsTraining& training);
// Interaction data: θ0 ← θ0 + α3 · mean of the cohort's differences, by whichever server optimiser the recipe
// names (sgd with learning_rate α3 is PrivRec's).
CohortMean interaction_mean(InteractionTraining& training);
// FCF's gradient of the item factors, with the regularisation of the whole population.
CohortMean factorisation_mean(const DevicePositives& devices, std::size_t population,
                              const FactorModel& model);

}  // namespace sotto
