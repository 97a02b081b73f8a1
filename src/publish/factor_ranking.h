#pragma once
// The ranking of a device that is served a run without a news model: the user model of its pack, on item
// vectors in the eight bits per number that a pack carries. Immutable, safe from several threads.

#include <span>

#include "data/dataset.h"
#include "device/pack/device_pack.h"
#include "publish/rows.h"
#include "recipes/trained_factors.h"

namespace sotto::publish {

Result<device::PackUserModel> factor_user_model(const recipes::TrainedFactors& factors);

class FactorRanking {
 public:
  static Result<FactorRanking> create(const recipes::TrainedFactors& factors);
  // Of all items of the catalogue, for a reader who clicked these, the newest last.
  std::vector<float> scores(std::span<const data::ItemId> history) const;

 private:
  FactorRanking(Rows items, device::UserModel user_model, std::size_t max_history)
      : items_(std::move(items)), user_model_(std::move(user_model)), max_history_(max_history) {}
  Rows items_;
  device::UserModel user_model_;
  std::size_t max_history_;
};

}  // namespace sotto::publish
