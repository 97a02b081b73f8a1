#include "eval/recommender_evaluator.h"

#include <algorithm>
#include <map>

#include "eval/impression_evaluator.h"

namespace sotto {

using torch::Tensor;

namespace {

// Bounds the memory of activations.
constexpr std::size_t items_at_once = 2048, users_at_once = 512;

// Items that the impressions show or have in their histories.
std::vector<ItemId> needed_items(const Dataset& dataset, std::span<const std::uint32_t> impressions) {
  std::vector<std::uint8_t> needed(dataset.item_count(), 0);
  for (const std::uint32_t index : impressions) {
    const Impression impression = dataset.impression(index);
    for (const ItemId item : impression.shown) needed[item] = 1;
    for (const ItemId item : impression.history) needed[item] = 1;
  }
  std::vector<ItemId> items;
  for (ItemId item = 0; item < needed.size(); ++item)
    if (needed[item]) items.push_back(item);
  return items;
}

// [N, D] with zero rows for items nobody needs.
Tensor item_table(NewsRecommender& model, const Dataset& dataset, const std::vector<ItemId>& items) {
  Tensor table = torch::zeros({static_cast<std::int64_t>(dataset.item_count()), model.vector_size()});
  for (std::size_t first = 0; first < items.size(); first += items_at_once) {
    const auto chunk = std::span(items).subspan(first, std::min(items_at_once, items.size() - first));
    Pass pass = Pass::evaluation();
    const Tensor rows = torch::tensor(std::vector<std::int64_t>(chunk.begin(), chunk.end()), torch::kInt64);
    table.index_copy_(0, rows, model.encode_items(chunk, pass).to(torch::kCPU));
  }
  return table;
}

struct DistinctHistories {
  std::vector<std::span<const ItemId>> histories;
  std::vector<std::int64_t> of_impression;
};

DistinctHistories distinct_histories(const Dataset& dataset, std::span<const std::uint32_t> impressions,
                                     std::size_t max_history) {
  DistinctHistories distinct;
  std::map<std::pair<const ItemId*, std::size_t>, std::int64_t> known;
  for (const std::uint32_t index : impressions) {
    const auto history = dataset.impression(index).history;
    const auto recent = history.last(std::min(history.size(), max_history));
    const auto [entry, fresh] = known.try_emplace({recent.data(), recent.size()},
                                                  static_cast<std::int64_t>(distinct.histories.size()));
    if (fresh) distinct.histories.push_back(recent);
    distinct.of_impression.push_back(entry->second);
  }
  return distinct;
}

}  // namespace

MeanImpressionMetrics evaluate_recommender(NewsRecommender& model, const Dataset& dataset,
                                           std::span<const std::uint32_t> impressions,
                                           std::size_t max_history) {
  torch::NoGradGuard no_grad;
  const Tensor items = item_table(model, dataset, needed_items(dataset, impressions));
  const DistinctHistories distinct = distinct_histories(dataset, impressions, max_history);
  const auto device = model.parameters().front().device();
  const Tensor on_device = items.to(device);

  std::vector<Tensor> users;
  for (std::size_t first = 0; first < distinct.histories.size(); first += users_at_once) {
    Histories batch;
    for (std::size_t u = first; u < std::min(distinct.histories.size(), first + users_at_once); ++u)
      batch.add(std::vector<std::int64_t>(distinct.histories[u].begin(), distinct.histories[u].end()));
    Pass pass = Pass::evaluation();
    users.push_back(model.encode_users(on_device, batch, pass).to(torch::kCPU));
  }
  if (users.empty()) return {};
  const Tensor per_impression =
      torch::cat(users).index_select(0, torch::tensor(distinct.of_impression, torch::kInt64)).contiguous();
  const auto as_span = [](const Tensor& tensor) {
    return std::span<const float>(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel()));
  };
  return evaluate_impressions(dataset, impressions, as_span(items), as_span(per_impression),
                              static_cast<std::size_t>(model.vector_size()));
}

}  // namespace sotto
