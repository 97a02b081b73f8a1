#pragma once
// Item vectors from two private sums (local/item_sums.h): round 1 brings noisy counts, which choose the
// items; round 2 brings who likes which of them together, and its eigenvectors become the items' vectors
// (fl/pair_spectrum.h). All training users take part in both rounds; each round sets its part of the model,
// for an optimiser that steps by 1.

#include <span>
#include <vector>

#include "fl/device_fold.h"
#include "fl/interaction_data.h"
#include "fl/private_training.h"
#include "local/item_sums.h"
#include "local/vector_ranking.h"
#include "model/interactions/item_vectors.h"
#include "privacy/accounting/account.h"

namespace sotto::fl {

// The plans of the two sums, item counts and pairs of the chosen items: from one budget for both to their
// noise, and the epsilon that holds. Devices send vectors of norm 1, counts without negative entries and
// pairs that are products, so one user replaced moves a sum by √2 and what rounding adds.

// How the two sums are encoded; the dimensions are the number of items and local::pair_count(chosen).
struct PairPlans {
  secagg::EncodingPlan counts, pairs;
  std::uint64_t chosen = 0;
};

struct SumsShape {
  std::uint64_t items = 0, chosen = 0, users = 0;
  double counts_noise = 1;  // noise multiplier of the counts over that of the pairs
};

struct TwoPrivateSums {
  PairPlans plans;
  // Everybody takes part in both sums and the server knows it: one number for both adversaries.
  privacy::Guarantee guarantee;
  privacy::PrivacyPlan accounted;  // the same as a file that `sotto privacy account` reads
  std::string sums;                // how this simulation comes to its sums

  // The least noise with which the budget holds. Refuses budgets that are not given.
  static Result<TwoPrivateSums> calibrate(const PrivateTrainingSettings& settings, const SumsShape& shape);
  privacy::PrivacyDatasheet datasheet(std::string recipe) const;
};

// The same sums without noise, to compare with.
Result<PairPlans> sums_without_noise(const PrivateTrainingSettings& settings, const SumsShape& shape);

// How a device's rows become its vectors, and what is made of their sums.
struct TasteSettings {
  double low = 0.7, centre = 0.5;  // local/item_sums.h
  std::int64_t vectors = 64;       // numbers per item, at most
  // A direction counts half that has so many times the mean share of a direction, 1/m, over the root of what
  // a user's items on the chosen ones sum up to: the fewer items, the more of what they have in common is
  // chance.
  double ridge = 24;
  bool features = true;  // the kernel reads the catalogue
};

// Refers to everything it is given but plans.
class PairFold final : public DeviceFold, public UserUpdates {
 public:
  PairFold(const data::Dataset& dataset, const InteractionData& data, const model::ItemVectors& model,
           PairPlans plans, const TasteSettings& settings)
      : dataset_(dataset), data_(data), model_(model), plans_(std::move(plans)), settings_(settings) {}
  Result<RoundTask> open(std::uint32_t round) override;  // 0 or 1
  void publish() override;
  // What a device sends: its shares of items, then of pairs of the chosen items.
  Status each_update(std::uint32_t round, std::span<const data::UserId> users,
                     const std::function<Status(const UserUpdate&)>& take) override;
  Result<torch::Tensor> fold(std::uint32_t round, const torch::Tensor& mean,
                             const Gathered& gathered) override;

 private:
  std::vector<local::OwnItem> items_of(data::UserId user) const;
  double ridge(std::span<const float> counts) const;  // in units of the mean
  // The direction after which counts and vectors are these.
  torch::Tensor setting(const torch::Tensor& counts, const torch::Tensor& vectors) const;

  const data::Dataset& dataset_;
  const InteractionData& data_;
  const model::ItemVectors& model_;
  PairPlans plans_;
  TasteSettings settings_;
  std::vector<data::ItemId> chosen_;  // of this round; none in the first
  std::vector<float> counts_;         // by which they were chosen
};

// Standard deviation of the noise in each coordinate of the mean when so many devices have added their share.
double noise_of_mean(const secagg::EncodingPlan& plan, std::uint64_t present);

// Scores of all items for every test user, from its support rows.
void score_test_users(const data::Dataset& dataset, const InteractionData& data,
                      const model::ItemVectors& model, const local::RankingWeights& weights,
                      const TakeScores& take);

}  // namespace sotto::fl
