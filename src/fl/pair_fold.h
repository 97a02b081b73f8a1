#pragma once
// Item vectors from two private sums (local/item_sums.h): round 1 brings noisy counts, which choose the
// items; round 2 brings who likes which of them together, and its eigenvectors become the items' vectors
// (fl/pair_spectrum.h). All training users take part in both rounds; each round sets its part of the model,
// for an optimiser that steps by 1.

#include <span>
#include <vector>

#include "fl/device_fold.h"
#include "fl/interaction_data.h"
#include "fl/pair_spectrum.h"
#include "fl/private_training.h"
#include "local/vector_ranking.h"
#include "model/interactions/item_vectors.h"
#include "model/interactions/tabular_inputs.h"
#include "privacy/accounting/account.h"

namespace sotto::fl {

// The plans of the two sums, item counts and pairs of the chosen items: from one budget for both to their
// noise, and the epsilon that holds. Devices send vectors of norm 1 without negative entries, so one user
// replaced moves a sum by √2.

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

// Refers to everything it is given but plans and features.
class PairFold final : public DeviceFold, public UserUpdates {
 public:
  PairFold(const data::Dataset& dataset, const InteractionData& data, const model::ItemVectors& model,
           PairPlans plans, const SpectrumSettings& spectrum, std::vector<model::TabularField> features = {})
      : dataset_(dataset),
        data_(data),
        model_(model),
        plans_(std::move(plans)),
        spectrum_(spectrum),
        features_(std::move(features)) {}
  Result<RoundTask> open(std::uint32_t round) override;  // 0 or 1
  void publish() override;
  // What a device sends: its shares of items, then of pairs of the chosen items.
  Status each_update(std::uint32_t round, std::span<const data::UserId> users,
                     const std::function<Status(const UserUpdate&)>& take) override;
  Result<torch::Tensor> fold(std::uint32_t round, const torch::Tensor& mean,
                             const Gathered& gathered) override;

 private:
  std::vector<data::ItemId> items_of(data::UserId user) const;  // distinct, ascending
  // One column per value of a feature. An entry is the root of the item's count, as the entries of vectors
  // are larger for items that many like.
  FeatureColumns features_of(std::span<const float> counts) const;
  // The direction after which counts and vectors are these.
  torch::Tensor setting(const torch::Tensor& counts, const torch::Tensor& vectors) const;

  const data::Dataset& dataset_;
  const InteractionData& data_;
  const model::ItemVectors& model_;
  PairPlans plans_;
  SpectrumSettings spectrum_;
  std::vector<model::TabularField> features_;  // of the catalogue's items
  std::vector<data::ItemId> chosen_;           // of this round; none in the first
};

// Standard deviation of the noise in each coordinate of the mean when so many devices have added their share.
double noise_of_mean(const secagg::EncodingPlan& plan, std::uint64_t present);

// Scores of all items for every test user, from its support rows.
void score_test_users(const data::Dataset& dataset, const InteractionData& data,
                      const model::ItemVectors& model, const local::RankingWeights& weights,
                      const TakeScores& take);

}  // namespace sotto::fl
