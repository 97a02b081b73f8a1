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

void RankingBatch::add(std::span<const ItemId> history, std::span<const ItemId> candidates, float weight) {
  TORCH_CHECK(candidates.size() == candidates_,
              "a sample needs one click and the agreed number of non-clicks");
  const auto recent = history.last(std::min(history.size(), max_history_));
  auto& same_end = known_histories_[recent.data() + recent.size()];
  std::int64_t number = -1;
  for (const auto& [length, known] : same_end)
    if (length == recent.size()) number = known;
  if (number < 0) {
    std::vector<std::int64_t> rows;
    rows.reserve(recent.size());
    for (const ItemId item : recent) rows.push_back(row_of(item));
    number = static_cast<std::int64_t>(histories_.size());
    histories_.add(rows);
    same_end.emplace_back(recent.size(), number);
  }
  sample_history_.push_back(number);
  for (const ItemId item : candidates) sample_candidates_.push_back(row_of(item));
  weights_.push_back(weight);
}

Tensor RankingBatch::loss(NewsRecommender& model, Pass& pass) const {
  TORCH_CHECK(samples() > 0, "an empty batch has no loss");
  const Tensor items = model.encode_items(items_, pass);
  const Tensor users = model.encode_users(items, histories_, pass);
  const auto samples = static_cast<std::int64_t>(sample_history_.size()),
             columns = static_cast<std::int64_t>(candidates_);
  const Tensor user = gather_rows(users, sample_history_);
  const Tensor shown = gather_rows(items, sample_candidates_).view({samples, columns, -1});
  const Tensor scores = (shown * user.unsqueeze(1)).sum(-1);
  const Tensor log_click = scores.log_softmax(1).select(1, 0);
  return -(log_click * torch::tensor(weights_).to(log_click)).sum();
}

}  // namespace sotto
