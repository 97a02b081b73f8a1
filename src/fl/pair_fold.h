#pragma once
// Item vectors from two private sums (fl/pair_spectrum.h): round 1 brings noisy counts, which choose the
// items; round 2 brings who likes which of them together, and its eigenvectors become the items' vectors
// (fl/pair_spectrum.h). All training users take part in both rounds; each round sets its part of the model,
// for an optimiser that steps by 1.

#include <span>
#include <vector>

#include "fl/cohort_rounds.h"
#include "fl/interaction_data.h"
#include "fl/pair_plans.h"
#include "fl/pair_spectrum.h"
#include "model/interactions/item_vectors.h"
#include "model/interactions/tabular_inputs.h"

namespace sotto::fl {

// Refers to everything it is given but plans and features.
class PairFold final : public RoundFold, public UserUpdates {
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
  // What a device sends: item_shares, then pair_shares of the chosen items.
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
                      const model::ItemVectors& model, const model::RankingWeights& weights,
                      const TakeScores& take);

}  // namespace sotto::fl
