#pragma once
// Federated collaborative filtering (Ammad-ud-din et al. 2019): implicit-feedback matrix factorisation whose
// user factors never leave the devices. With item factors Y [I, D] a device solves for its own
//
//   x = argmin Σ_i c_i (p_i − x·y_i)² + λ‖x‖²,   p_i = 1 for its items, else 0;  c_i = 1 + confidence · p_i
//
// and returns the gradient of its error in Y. The server adds λY and takes a step.

#include <span>

#include "base/settings.h"
#include "fl/device_positives.h"
#include "fl/interaction_data.h"
#include "model/flat_parameters.h"
#include "model/news/ranking_model.h"

namespace sotto {

struct FactorisationSettings {
  std::int64_t factors = 64;
  double confidence = 4, regularisation = 1, factor_scale = 0.1;
  void bind(SettingsTable& table);
};

// As a ranking model it reads a history as the device's items: the reader's factors are solved for each
// history anew, all zeros for an empty one.
class FactorModel final : public RankingModel {
 public:
  FactorModel(std::int64_t items, const FactorisationSettings& settings);
  torch::Tensor scores(const ScoreRequest& request, Pass& pass) override;
  const FactorisationSettings& settings() const { return settings_; }
  torch::Tensor factors;  // [I, D]

 private:
  FactorisationSettings settings_;
};

// x of many devices, [U, D].
torch::Tensor solve_users(const torch::Tensor& factors, std::span<const OwnItems> users,
                          const FactorisationSettings& settings);
// Mean over the devices of the gradient in Y, [I, D], without λY; loss: mean squared error, weighted.
struct FactorGradient {
  torch::Tensor gradient;
  double loss = 0;
};
FactorGradient factor_gradient(const torch::Tensor& factors, std::span<const OwnItems> users,
                               const FactorisationSettings& settings);

// Scores of all items for every test user, whose device solves for x from its support rows.
void score_test_users(const Dataset& dataset, const InteractionData& data, const FactorModel& model,
                      const TakeScores& take);

}  // namespace sotto
