#pragma once
// Federated collaborative filtering (Ammad-ud-din et al. 2019): implicit-feedback matrix factorisation whose
// user factors never leave the devices. With item factors Y [I, D] a device solves for its own
//
//   x = argmin Σ_i c_i (p_i − x·y_i)² + λ‖x‖²,   p_i = 1 for its items, else 0;  c_i = 1 + confidence · p_i
//
// and returns the gradient of its error in Y. The server adds λY and takes a step.

#include "base/settings.h"
#include "fl/cohort_sampler.h"
#include "fl/interaction_data.h"
#include "fl/round_update.h"
#include "model/flat_parameters.h"
#include "model/tensor.h"

namespace sotto {

struct FactorisationSettings {
  std::int64_t factors = 64;
  double confidence = 4, regularisation = 1, factor_scale = 0.1;
  void bind(SettingsTable& table);
};

class FactorModel final : public torch::nn::Module {
 public:
  FactorModel(std::int64_t items, const FactorisationSettings& settings);
  torch::Tensor factors;  // [I, D]
};

// Items of one device, each once.
using OwnItems = std::vector<std::int64_t>;

// x of many devices, [U, D].
torch::Tensor solve_users(const torch::Tensor& factors, const std::vector<OwnItems>& users,
                          const FactorisationSettings& settings);
// Mean over the devices of the gradient in Y, [I, D], without λY; loss: mean squared error, weighted.
struct FactorGradient {
  torch::Tensor gradient;
  double loss = 0;
};
FactorGradient factor_gradient(const torch::Tensor& factors, const std::vector<OwnItems>& users,
                               const FactorisationSettings& settings);

// Scores of all items for every test user, whose device solves for x from its support rows.
void score_test_users(const Dataset& dataset, const InteractionData& data, const FactorModel& model,
                      const FactorisationSettings& settings, const TakeScores& take);

OwnItems own_items(const Dataset& dataset, const std::vector<std::uint64_t>& rows);

// Refers to everything it is given.
class FactorisationSource final : public UpdateSource {
 public:
  FactorisationSource(const Dataset& dataset, const InteractionData& data, CohortSampler sampler,
                      const FactorModel& model, const FactorisationSettings& settings)
      : dataset_(dataset), data_(data), sampler_(std::move(sampler)), model_(model), settings_(settings) {}
  Result<RoundUpdate> round(std::uint32_t round) override;

 private:
  const Dataset& dataset_;
  const InteractionData& data_;
  CohortSampler sampler_;
  const FactorModel& model_;
  FactorisationSettings settings_;
};

}  // namespace sotto
