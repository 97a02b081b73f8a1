#pragma once
// Federated collaborative filtering (Ammad-ud-din et al. 2019): implicit-feedback matrix factorisation whose
// user factors never leave the devices. With item factors Y [I, D] a device solves for its own
//
//   x = argmin Σ_i c_i (p_i − x·y_i)² + λ‖x‖²,   p_i = 1 for its items, else 0;  c_i = 1 + confidence · p_i
//
// and returns the gradient of its error in Y. The server adds λY and takes a step.

#include <cstdint>
#include <span>
#include <vector>

#include "base/settings.h"
#include "data/dataset.h"
#include "fl/interaction_data.h"
#include "model/flat_parameters.h"
#include "model/news/ranking_model.h"

namespace sotto::fl {

// What every training device likes, whichever way the data records it: all that matrix factorisation reads.

// Items of one device, ascending, each once.
using OwnItems = std::vector<std::int64_t>;

// Immutable after preparation.
struct DevicePositives {
  std::vector<data::UserId> users;  // that train, ascending
  std::vector<OwnItems> items;      // by position in `users`

  const OwnItems& of(data::UserId user) const;  // a user of `users`
  std::uint64_t count() const;
};

OwnItems each_once(std::vector<std::int64_t> items);
// Items of these rows.
OwnItems own_items(const data::Dataset& dataset, const std::vector<std::uint64_t>& rows);

// Positive rows of the users who train.
DevicePositives positives_of(const data::Dataset& dataset, const InteractionData& data);
// What these users (ascending) clicked in impressions of the training split, and before them: the histories
// of these impressions, at full length.
DevicePositives positives_of(const data::Dataset& dataset, std::span<const data::UserId> users);

struct FactorisationSettings {
  std::int64_t factors = 64;
  double confidence = 4, regularisation = 1, factor_scale = 0.1;
  void bind(SettingsTable& table);
};

// As a ranking model it reads a history as the device's items: the reader's factors are solved for each
// history anew, all zeros for an empty one.
class FactorModel final : public model::RankingModel {
 public:
  FactorModel(std::int64_t items, const FactorisationSettings& settings);
  torch::Tensor scores(const model::ScoreRequest& request, model::Pass& pass) override;
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
void score_test_users(const data::Dataset& dataset, const InteractionData& data, const FactorModel& model,
                      const TakeScores& take);

}  // namespace sotto::fl
