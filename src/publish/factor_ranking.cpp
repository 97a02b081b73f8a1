#include "publish/factor_ranking.h"

#include <algorithm>

namespace sotto::publish {

namespace {

// Clicks that a user model of factors reads, the newest ones.
constexpr std::uint32_t clicks_of_factors = 1000;

}  // namespace

Result<device::PackUserModel> factor_user_model(const recipes::TrainedFactors& factors) {
  device::PackUserModel made;
  made.kind = "sum";
  made.max_history = clicks_of_factors;
  const auto size = static_cast<std::uint32_t>(factors.size);
  const auto add = [&](std::string name, std::vector<std::uint32_t> shape,
                       const std::vector<float>& numbers) -> Status {
    SOTTO_TRY(auto tensor, device::PackTensor::from_floats(std::move(name), std::move(shape), numbers,
                                                           device::NumberForm::f32));
    made.weights.push_back(std::move(tensor));
    return {};
  };
  SOTTO_CHECK(add("mix", {size, size}, factors.mix));
  SOTTO_CHECK(add("constant", {size}, factors.constant));
  return made;
}

Result<FactorRanking> FactorRanking::create(const recipes::TrainedFactors& factors) {
  device::DevicePack pack;
  pack.dimension = static_cast<std::uint32_t>(factors.size);
  SOTTO_TRY(pack.user_model, factor_user_model(factors));
  SOTTO_TRY(auto user_model, device::make_user_model(pack));
  const auto count = static_cast<std::uint32_t>(factors.items.size() / factors.size);
  SOTTO_TRY(const auto carried, device::PackTensor::from_floats("items", {count, pack.dimension},
                                                                factors.items, device::NumberForm::i8));
  Rows items(count, factors.size);
  items.values = carried.floats();
  return FactorRanking(std::move(items), std::move(user_model), pack.user_model.max_history);
}

std::vector<float> FactorRanking::scores(std::span<const data::ItemId> history) const {
  std::vector<float> clicks;
  for (const data::ItemId item : history.last(std::min(history.size(), max_history_)))
    clicks.insert(clicks.end(), items_[item].begin(), items_[item].end());
  const std::vector<float> reader = user_model_.encode(clicks);
  std::vector<float> scores(items_.size());
  for (std::size_t item = 0; item < scores.size(); ++item)
    scores[item] = static_cast<float>(dot(items_[item], reader));
  return scores;
}

}  // namespace sotto::publish
