#include "fl/pair_fold.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace sotto::fl {

using torch::Tensor;

namespace {

std::span<const float> values_of(const Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

double noise_of_mean(const secagg::EncodingPlan& plan, std::uint64_t present) {
  if (!plan.noise_share()) return 0;
  const double steps = std::sqrt(plan.noise_share()->share_variance() * static_cast<double>(present));
  return steps * plan.settings().step / plan.settings().denominator;
}

std::vector<data::ItemId> PairFold::items_of(data::UserId user) const {
  std::vector<data::ItemId> items;
  for (const std::uint64_t row : data_.of(user).positive) items.push_back(dataset_.interactions().items[row]);
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

Result<RoundTask> PairFold::open(std::uint32_t round) {
  if (round > 1) return failed("round {} does not exist: two sums are all that is released", round + 1);
  if (round == 0) return RoundTask{plans_.counts};
  const Tensor counts = model_.counts.to(torch::kCPU).contiguous();
  chosen_ = most_counted(values_of(counts), plans_.chosen);
  return RoundTask{plans_.pairs, chosen_.size() * sizeof(data::ItemId)};
}

Status PairFold::each_update(std::uint32_t round, std::span<const data::UserId> users,
                             const std::function<Status(const UserUpdate&)>& take) {
  std::unordered_map<data::ItemId, std::uint32_t> position;
  for (const data::ItemId item : chosen_) position.emplace(item, static_cast<std::uint32_t>(position.size()));
  const auto chosen_among = [&](std::span<const data::ItemId> own) {
    std::vector<std::uint32_t> known;
    for (const data::ItemId item : own)
      if (const auto found = position.find(item); found != position.end()) known.push_back(found->second);
    std::sort(known.begin(), known.end());
    return known;
  };
  for (const data::UserId user : users) {
    const std::vector<data::ItemId> own = items_of(user);
    std::vector<float> sent =
        round == 0 ? item_shares(own, dataset_.item_count()) : pair_shares(chosen_among(own), chosen_.size());
    const Tensor update = torch::from_blob(sent.data(), static_cast<std::int64_t>(sent.size()));
    SOTTO_CHECK(take({user, update, 0, own.size()}));
  }
  return {};
}

Result<Tensor> PairFold::fold(std::uint32_t round, const Tensor& mean, const Gathered&) {
  const torch::NoGradGuard no_grad;
  if (round == 0) return setting(mean, model_.vectors);
  const Tensor counts = model_.counts.to(torch::kCPU).contiguous();
  std::vector<float> rows =
      vectors_from_pairs(values_of(mean), chosen_.size(), noise_of_mean(plans_.pairs, data_.users.size()),
                         spectrum_, features_of(values_of(counts)));
  const auto items = static_cast<std::int64_t>(chosen_.size());
  const Tensor vectors = torch::zeros({counts.numel(), spectrum_.vectors});
  vectors.index_copy_(0, torch::tensor(std::vector<std::int64_t>(chosen_.begin(), chosen_.end())),
                      torch::from_blob(rows.data(), {items, spectrum_.vectors}));
  return setting(model_.counts, vectors);
}

FeatureColumns PairFold::features_of(std::span<const float> counts) const {
  FeatureColumns columns;
  for (const auto& field : features_) columns.width += static_cast<std::size_t>(field.values);
  columns.values.assign(chosen_.size() * columns.width, 0);
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const float entry = std::sqrt(std::max(counts[chosen_[i]], 0.0F));  // noise makes counts negative
    float* column = columns.values.data() + i * columns.width;
    for (const auto& field : features_) {
      for (const std::uint32_t code : field.of(chosen_[i])) column[code] = entry;
      column += field.values;
    }
  }
  return columns;
}

Tensor PairFold::setting(const Tensor& counts, const Tensor& vectors) const {
  const auto device = model_.counts.device();
  return torch::cat(
      {(model_.counts - counts.to(device)).reshape(-1), (model_.vectors - vectors.to(device)).reshape(-1)});
}

void score_test_users(const data::Dataset& dataset, const InteractionData& data,
                      const model::ItemVectors& model, const model::RankingWeights& weights,
                      const TakeScores& take) {
  const model::VectorRanking ranking(model, weights);
  for (std::size_t user = 0; user < data.test.size(); ++user) {
    std::vector<data::ItemId> history;
    for (const std::uint64_t row : data.test[user].support.positive)
      history.push_back(dataset.interactions().items[row]);
    take(user, data.test[user].query, ranking.scores(history).data());
  }
}

}  // namespace sotto::fl
