#include "model/news_recommender.h"

#include <algorithm>

#include "model/recompute.h"

namespace sotto {

using torch::Tensor;

Tensor dot_pairs(const Tensor& a, std::span<const std::int64_t> rows_a, const Tensor& b,
                 std::span<const std::int64_t> rows_b) {
  return (gather_rows(a, {rows_a.begin(), rows_a.end()}) * gather_rows(b, {rows_b.begin(), rows_b.end()}))
      .sum(-1);
}

std::int64_t NewsRecommender::bytes_per_item() const {
  // A title's words times the rows that convolution, attention and pooling keep, of which some are gradients.
  constexpr std::int64_t words = 16, rows_kept = 16;
  return words * rows_kept * vector_size() * static_cast<std::int64_t>(sizeof(float));
}

Tensor NewsRecommender::encode_in_parts(std::span<const ItemId> items, Pass& pass, std::size_t kept) {
  std::vector<Tensor> trained;
  for (const Tensor& parameter : parameters())
    if (parameter.requires_grad()) trained.push_back(parameter);
  std::vector<Tensor> parts = {encode_items(items.first(std::min(kept, items.size())), pass)};
  for (std::size_t first = kept; first < items.size(); first += kept) {
    const auto chunk = items.subspan(first, std::min(kept, items.size() - first));
    const auto part = [this, own = std::vector<ItemId>(chunk.begin(), chunk.end()), seed = pass.next_seed(),
                       training = pass.training](const Tensor&) {
      Pass again{training, seed};
      return encode_items(own, again);
    };
    parts.push_back(recomputed(part, torch::zeros({1}), trained));
  }
  return torch::cat(parts);
}

Tensor NewsRecommender::scores(const ScoreRequest& request, Pass& pass) {
  // What a training pass may keep of the items. Where users are told apart batches are cut by users instead,
  // and a card has memory enough.
  constexpr std::int64_t budget = std::int64_t{1} << 29;
  const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(1, budget / bytes_per_item()));
  const bool cut = torch::GradMode::is_enabled() && !pass.users && !bounds_its_memory() &&
                   request.items.size() > kept && parameters().front().is_cpu();
  const Tensor items = cut ? encode_in_parts(request.items, pass, kept) : encode_items(request.items, pass);
  const Tensor users = encode_users(items, request.histories, pass);
  return dot_pairs(items, request.pair_item, users, request.pair_history);
}

}  // namespace sotto
