#include "fl/pair_source.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "fl/simulated_sum.h"

namespace sotto {

using torch::Tensor;

namespace {

Status add(SimulatedSum& sum, UserId user, std::vector<float> shares) {
  return sum.add(user, torch::from_blob(shares.data(), static_cast<std::int64_t>(shares.size())));
}

std::span<const float> values_of(const Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

double noise_of_mean(const EncodingPlan& plan, std::uint64_t present) {
  if (!plan.noise_share()) return 0;
  const double steps = std::sqrt(plan.noise_share()->share_variance() * static_cast<double>(present));
  return steps * plan.settings().step / plan.settings().denominator;
}

std::vector<ItemId> PairSource::items_of(std::size_t position) const {
  std::vector<ItemId> items;
  for (const std::uint64_t row : data_.rows[position].positive)
    items.push_back(dataset_.interactions().items[row]);
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

Result<RoundUpdate> PairSource::round(std::uint32_t round) {
  const torch::NoGradGuard no_grad;
  if (round == 0) return counts_round();
  if (round == 1) return pairs_round();
  return failed("round {} does not exist: two sums are all that is released", round + 1);
}

Result<RoundUpdate> PairSource::counts_round() {
  SimulatedSum sum(plans_.counts, seed_, 0);
  std::uint64_t samples = 0;
  for (std::size_t user = 0; user < data_.users.size(); ++user) {
    const std::vector<ItemId> own = items_of(user);
    samples += own.size();
    SOTTO_CHECK(add(sum, data_.users[user], item_shares(own, dataset_.item_count())));
  }
  SOTTO_TRY(const Tensor counts, sum.mean());
  RoundUpdate update = setting(counts, model_.vectors);
  update.samples = samples;
  update.bytes_up = sum.bytes_up();
  return update;
}

Result<RoundUpdate> PairSource::pairs_round() {
  const Tensor counts = model_.counts.to(torch::kCPU).contiguous();
  const std::vector<ItemId> chosen = most_counted(values_of(counts), plans_.chosen);
  std::unordered_map<ItemId, std::uint32_t> position;
  for (const ItemId item : chosen) position.emplace(item, static_cast<std::uint32_t>(position.size()));

  SimulatedSum sum(plans_.pairs, seed_, 1);
  std::uint64_t samples = 0;
  for (std::size_t user = 0; user < data_.users.size(); ++user) {
    std::vector<std::uint32_t> own;
    for (const ItemId item : items_of(user))
      if (const auto found = position.find(item); found != position.end()) own.push_back(found->second);
    std::sort(own.begin(), own.end());
    samples += own.size();
    SOTTO_CHECK(add(sum, data_.users[user], pair_shares(own, chosen.size())));
  }
  SOTTO_TRY(const Tensor mean, sum.mean());
  std::vector<float> rows = vectors_from_pairs(values_of(mean), chosen.size(),
                                               noise_of_mean(plans_.pairs, data_.users.size()), spectrum_);
  const Tensor vectors = torch::zeros({counts.numel(), spectrum_.vectors});
  vectors.index_copy_(
      0, torch::tensor(std::vector<std::int64_t>(chosen.begin(), chosen.end())),
      torch::from_blob(rows.data(), {static_cast<std::int64_t>(chosen.size()), spectrum_.vectors}));
  RoundUpdate update = setting(model_.counts, vectors);
  update.samples = samples;
  update.bytes_down = chosen.size() * sizeof(ItemId);
  update.bytes_up = sum.bytes_up();
  return update;
}

RoundUpdate PairSource::setting(const Tensor& counts, const Tensor& vectors) const {
  RoundUpdate update;
  const auto device = model_.counts.device();
  update.direction = torch::cat(
      {(model_.counts - counts.to(device)).reshape(-1), (model_.vectors - vectors.to(device)).reshape(-1)});
  update.clients = data_.users.size();
  return update;
}

void score_test_users(const Dataset& dataset, const InteractionData& data, const ItemVectors& model,
                      double again, const TakeScores& take) {
  const VectorRanking ranking(model, again);
  for (std::size_t user = 0; user < data.test.size(); ++user) {
    std::vector<ItemId> history;
    for (const std::uint64_t row : data.test[user].support.positive)
      history.push_back(dataset.interactions().items[row]);
    take(user, data.test[user].query, ranking.scores(history).data());
  }
}

}  // namespace sotto
