#pragma once
// Federated rounds in one process in which the server averages what it is sent, without encoding or noise: a
// sampled cohort, and the mean of its updates by one of the rules below.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "data/dataset.h"
#include "fl/cohort_sampler.h"
#include "fl/factorisation_training.h"
#include "fl/interaction_training.h"
#include "fl/news_training.h"
#include "fl/round_update.h"
#include "model/tensor.h"
#include "privacy/mechanisms/vector_release.h"
#include "privacy/noise/noise_origin.h"

namespace sotto::fl {

// Consume-once, mergeable weighted mean of updates: accumulate -> merge -> report. The report refuses below
// the minimum cohort, so that no single user's update is ever looked at by accident.
class WeightedMean {
 public:
  explicit WeightedMean(std::uint64_t minimum_clients = 1) : minimum_clients_(minimum_clients) {}

  void add(const torch::Tensor& update, double weight);
  // Many clients at once, already multiplied by their weights and summed.
  void add_sum(const torch::Tensor& weighted_sum, double weight, std::uint64_t clients);
  void merge(WeightedMean&& other);

  std::uint64_t clients() const { return clients_; }
  Result<torch::Tensor> report() &&;

 private:
  torch::Tensor sum_;
  double weight_ = 0;
  std::uint64_t clients_ = 0, minimum_clients_;
};

// What happens to one user's update before it is aggregated. Transforms run in the order given.
class UpdateTransform {
 public:
  virtual ~UpdateTransform() = default;
  // Changes `update` [P] in place. Refuses one that is not made of numbers, where it would have to be.
  virtual Status apply(std::uint32_t round, data::UserId user, torch::Tensor& update) const = 0;
};

// Scales an update down to an L2 norm of at most `limit`. Not a privacy guarantee without noise.
class ClipNorm final : public UpdateTransform {
 public:
  explicit ClipNorm(double limit) : limit_(limit) {}
  Status apply(std::uint32_t round, data::UserId user, torch::Tensor& update) const override;

 private:
  double limit_;
};

// FedNewsRec's upload (Qi et al. 2020, Eq. 4), released by the mechanism that says what it is worth.
class ElementwiseLaplaceNoise final : public UpdateTransform {
 public:
  ElementwiseLaplaceNoise(privacy::ElementwiseLaplace mechanism, const privacy::NoiseOrigin& noise)
      : mechanism_(std::move(mechanism)), noise_(noise) {}
  Status apply(std::uint32_t round, data::UserId user, torch::Tensor& update) const override;

 private:
  privacy::ElementwiseLaplace mechanism_;
  privacy::NoiseOrigin noise_;
};

using UpdateTransforms = std::vector<std::unique_ptr<UpdateTransform>>;

// The mean of a cohort's updates and what it cost; pure in (current parameters, round, cohort).
using CohortMean =
    std::function<Result<RoundUpdate>(std::uint32_t round, const std::vector<data::UserId>& cohort)>;

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
  Weighting printed = Weighting::paper;  // what mode=paper is; not a setting
  void bind(SettingsTable& table);
  // For recipes whose devices clip without noise (make_transforms).
  void bind_clipping(SettingsTable& table);
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

}  // namespace sotto::fl
