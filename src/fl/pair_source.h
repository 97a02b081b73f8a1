#pragma once
// Item vectors from two private sums (fl/item_pairs.h): round 1 brings noisy counts, which choose the items;
// round 2 brings who likes which of them together, and its eigenvectors become the items' vectors
// (fl/pair_spectrum.h). All training users take part in both rounds; each round sets its part of the model,
// for an optimiser that steps by 1.

#include <functional>
#include <span>
#include <vector>

#include "fl/interaction_data.h"
#include "fl/item_pairs.h"
#include "fl/pair_spectrum.h"
#include "fl/round_update.h"
#include "model/interactions/item_vectors.h"
#include "model/interactions/tabular_inputs.h"
#include "secagg/vectors/encoding_plan.h"

namespace sotto {

// How the two sums are encoded; the dimensions are the number of items and pair_count(chosen).
struct PairPlans {
  EncodingPlan counts, pairs;
  std::uint64_t chosen = 0;
};

// Refers to everything it is given but plans and features.
class PairSource final : public UpdateSource {
 public:
  PairSource(const Dataset& dataset, const InteractionData& data, const ItemVectors& model, PairPlans plans,
             const SpectrumSettings& spectrum, std::uint64_t seed, std::vector<TabularField> features = {})
      : dataset_(dataset),
        data_(data),
        model_(model),
        plans_(std::move(plans)),
        spectrum_(spectrum),
        seed_(seed),
        features_(std::move(features)) {}
  Result<RoundUpdate> round(std::uint32_t round) override;  // 0 or 1

  // What the server learns: a noisy mean over the users, and what it cost.
  struct Release {
    torch::Tensor mean;
    std::uint64_t samples = 0, bytes_up = 0;
  };
  Result<Release> counts() const;                               // [I], of item_shares
  Result<Release> pairs(std::span<const ItemId> chosen) const;  // of pair_shares

 private:
  using SharesOfUser = std::function<std::vector<float>(std::span<const ItemId> own)>;
  Result<Release> sum(const EncodingPlan& plan, std::uint32_t round, const SharesOfUser& shares) const;
  std::vector<ItemId> items_of(std::size_t position) const;  // distinct, ascending
  // One column per value of a feature. An entry is the root of the item's count, as the entries of vectors
  // are larger for items that many like.
  FeatureColumns features_of(std::span<const ItemId> chosen, std::span<const float> counts) const;
  // The update after which counts and vectors are these.
  RoundUpdate setting(const Release& release, const torch::Tensor& counts,
                      const torch::Tensor& vectors) const;

  const Dataset& dataset_;
  const InteractionData& data_;
  const ItemVectors& model_;
  PairPlans plans_;
  SpectrumSettings spectrum_;
  std::uint64_t seed_;
  std::vector<TabularField> features_;  // of the catalogue's items
};

// Standard deviation of the noise in each coordinate of the mean when so many devices have added their share.
double noise_of_mean(const EncodingPlan& plan, std::uint64_t present);

// Scores of all items for every test user, from its support rows.
void score_test_users(const Dataset& dataset, const InteractionData& data, const ItemVectors& model,
                      const RankingWeights& weights, const TakeScores& take);

}  // namespace sotto
