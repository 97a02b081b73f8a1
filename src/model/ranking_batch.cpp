#include "model/ranking_batch.h"

namespace sotto {

using torch::Tensor;

RankingBatch::RankingBatch(std::size_t candidates, std::size_t max_history)
    : candidates_(candidates), max_history_(max_history) {}

std::int64_t RankingBatch::row_of(ItemId item) {
  const auto [entry, fresh] = rows_.try_emplace(item, static_cast<std::int64_t>(items_.size()));
  if (fresh) items_.push_back(item);
  return entry->second;
}

std::int64_t RankingBatch::history_number(std::span<const ItemId> recent, UserId user) {
  auto& same_end = known_histories_[recent.data() + recent.size()];
  for (const KnownHistory& known : same_end)
    if (known.length == recent.size() && known.user == user) return known.number;
  std::vector<std::int64_t> rows;
  rows.reserve(recent.size());
  for (const ItemId item : recent) rows.push_back(row_of(item));
  const auto number = static_cast<std::int64_t>(histories_.size());
  histories_.add(rows, user);
  same_end.push_back({recent.size(), user, number});
  return number;
}

void RankingBatch::add(std::span<const ItemId> history, std::span<const ItemId> candidates, float weight,
                       UserId user) {
  TORCH_CHECK(candidates.size() == candidates_,
              "a sample needs one click and the agreed number of non-clicks");
  const std::int64_t number = history_number(history.last(std::min(history.size(), max_history_)), user);
  for (const ItemId item : candidates) {
    pair_history_.push_back(number);
    pair_item_.push_back(row_of(item));
  }
  weights_.push_back(weight);
}

Tensor RankingBatch::loss(RankingModel& model, Pass& pass) const {
  TORCH_CHECK(samples() > 0, "an empty batch has no loss");
  const Tensor scores = model.scores({items_, histories_, pair_history_, pair_item_}, pass)
                            .view({static_cast<std::int64_t>(samples()), -1});
  const Tensor log_click = scores.log_softmax(1).select(1, 0);
  return -(log_click * torch::tensor(weights_).to(log_click)).sum();
}

}  // namespace sotto
