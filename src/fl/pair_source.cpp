#include "fl/pair_source.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "fl/simulated_sum.h"

namespace sotto {

using torch::Tensor;

namespace {

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

Result<PairSource::Release> PairSource::sum(const EncodingPlan& plan, std::uint32_t round,
                                            const SharesOfUser& shares) const {
  SimulatedSum sum(plan, seed_, round);
  Release release;
  for (std::size_t user = 0; user < data_.users.size(); ++user) {
    const std::vector<ItemId> own = items_of(user);
    std::vector<float> sent = shares(own);
    SOTTO_CHECK(
        sum.add(data_.users[user], torch::from_blob(sent.data(), static_cast<std::int64_t>(sent.size()))));
    release.samples += own.size();
  }
  SOTTO_TRY(release.mean, sum.mean());
  release.bytes_up = sum.bytes_up();
  return release;
}

Result<PairSource::Release> PairSource::counts() const {
  return sum(plans_.counts, 0,
             [&](std::span<const ItemId> own) { return item_shares(own, dataset_.item_count()); });
}

Result<PairSource::Release> PairSource::pairs(std::span<const ItemId> chosen) const {
  std::unordered_map<ItemId, std::uint32_t> position;
  for (const ItemId item : chosen) position.emplace(item, static_cast<std::uint32_t>(position.size()));
  return sum(plans_.pairs, 1, [&](std::span<const ItemId> own) {
    std::vector<std::uint32_t> known;
    for (const ItemId item : own)
      if (const auto found = position.find(item); found != position.end()) known.push_back(found->second);
    std::sort(known.begin(), known.end());
    return pair_shares(known, chosen.size());
  });
}

Result<RoundUpdate> PairSource::round(std::uint32_t round) {
  const torch::NoGradGuard no_grad;
  if (round > 1) return failed("round {} does not exist: two sums are all that is released", round + 1);
  if (round == 0) {
    SOTTO_TRY(const Release release, counts());
    return setting(release, release.mean, model_.vectors);
  }
  const Tensor counts = model_.counts.to(torch::kCPU).contiguous();
  const std::vector<ItemId> chosen = most_counted(values_of(counts), plans_.chosen);
  SOTTO_TRY(const Release release, pairs(chosen));
  std::vector<float> rows = vectors_from_pairs(values_of(release.mean), chosen.size(),
                                               noise_of_mean(plans_.pairs, data_.users.size()), spectrum_,
                                               features_of(chosen, values_of(counts)));
  const auto items = static_cast<std::int64_t>(chosen.size());
  const Tensor vectors = torch::zeros({counts.numel(), spectrum_.vectors});
  vectors.index_copy_(0, torch::tensor(std::vector<std::int64_t>(chosen.begin(), chosen.end())),
                      torch::from_blob(rows.data(), {items, spectrum_.vectors}));
  RoundUpdate update = setting(release, model_.counts, vectors);
  update.bytes_down = chosen.size() * sizeof(ItemId);
  return update;
}

FeatureColumns PairSource::features_of(std::span<const ItemId> chosen, std::span<const float> counts) const {
  FeatureColumns columns;
  for (const auto& field : features_) columns.width += static_cast<std::size_t>(field.values);
  columns.values.assign(chosen.size() * columns.width, 0);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const float entry = std::sqrt(std::max(counts[chosen[i]], 0.0F));  // noise makes counts negative
    float* column = columns.values.data() + i * columns.width;
    for (const auto& field : features_) {
      for (const std::uint32_t code : field.of(chosen[i])) column[code] = entry;
      column += field.values;
    }
  }
  return columns;
}

RoundUpdate PairSource::setting(const Release& release, const Tensor& counts, const Tensor& vectors) const {
  RoundUpdate update;
  const auto device = model_.counts.device();
  update.direction = torch::cat(
      {(model_.counts - counts.to(device)).reshape(-1), (model_.vectors - vectors.to(device)).reshape(-1)});
  update.clients = data_.users.size();
  update.samples = release.samples;
  update.bytes_up = release.bytes_up;
  return update;
}

void score_test_users(const Dataset& dataset, const InteractionData& data, const ItemVectors& model,
                      const RankingWeights& weights, const TakeScores& take) {
  const VectorRanking ranking(model, weights);
  for (std::size_t user = 0; user < data.test.size(); ++user) {
    std::vector<ItemId> history;
    for (const std::uint64_t row : data.test[user].support.positive)
      history.push_back(dataset.interactions().items[row]);
    take(user, data.test[user].query, ranking.scores(history).data());
  }
}

}  // namespace sotto
