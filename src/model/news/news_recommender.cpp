#include "model/news/news_recommender.h"

#include <algorithm>

#include "model/recompute.h"

namespace sotto::model {

using torch::Tensor;

Tensor dot_pairs(const Tensor& a, std::span<const std::int64_t> rows_a, const Tensor& b,
                 std::span<const std::int64_t> rows_b) {
  return (gather_rows(a, {rows_a.begin(), rows_a.end()}) * gather_rows(b, {rows_b.begin(), rows_b.end()}))
      .sum(-1);
}

namespace {

// Rows as wide as a vector that a training pass keeps of a word or a click: inputs, queries, keys, values,
// what comes out of attention, gates, and some of their gradients.
constexpr std::int64_t rows_kept = 16;
constexpr std::int64_t words_per_item = 16;

KeptGraph within(std::int64_t budget, std::int64_t bytes_each) {
  const auto fits = [&](std::int64_t bytes) {
    return static_cast<std::size_t>(std::max<std::int64_t>(1, bytes / bytes_each));
  };
  return {fits(budget), fits(budget / 4)};
}

Histories part_of(const Histories& all, std::size_t first, std::size_t last) {
  Histories part;
  for (std::size_t u = first; u < last; ++u) {
    const auto begin = static_cast<std::size_t>(all.offsets[u]),
               end = static_cast<std::size_t>(all.offsets[u + 1]);
    part.add(std::span(all.rows).subspan(begin, end - begin), all.users[u]);
  }
  return part;
}

// One behind the last history that still fits, at least one.
std::size_t cut(const Histories& all, std::size_t first, std::size_t clicks) {
  const std::int64_t limit = all.offsets[first] + static_cast<std::int64_t>(clicks);
  std::size_t last = first + 1;
  while (last < all.size() && all.offsets[last + 1] <= limit) ++last;
  return last;
}

}  // namespace

std::int64_t NewsRecommender::bytes_per_item() const {
  return words_per_item * rows_kept * vector_size() * static_cast<std::int64_t>(sizeof(float));
}

std::vector<Tensor> NewsRecommender::trained() const {
  std::vector<Tensor> trained;
  for (const Tensor& parameter : parameters())
    if (parameter.requires_grad()) trained.push_back(parameter);
  return trained;
}

Tensor NewsRecommender::encode_items_in_parts(std::span<const data::ItemId> items, Pass& pass,
                                              const KeptGraph& graph) {
  const std::size_t kept = std::min(graph.kept, items.size());
  std::vector<Tensor> parts = {encode_items(items.first(kept), pass)};
  for (std::size_t first = kept; first < items.size(); first += graph.part) {
    const auto chunk = items.subspan(first, std::min(graph.part, items.size() - first));
    const auto part = [this, own = std::vector<data::ItemId>(chunk.begin(), chunk.end()),
                       seed = pass.next_seed(), training = pass.training](const Tensor&) {
      Pass again{training, seed};
      return encode_items(own, again);
    };
    parts.push_back(recomputed(part, torch::zeros({1}), trained()));
  }
  return torch::cat(parts);
}

Tensor NewsRecommender::encode_users_in_parts(const Tensor& item_vectors, const Histories& histories,
                                              Pass& pass, const KeptGraph& clicks) {
  std::size_t first = cut(histories, 0, clicks.kept);
  if (first == histories.size()) return encode_users(item_vectors, histories, pass);
  std::vector<Tensor> parts = {encode_users(item_vectors, part_of(histories, 0, first), pass)};
  while (first < histories.size()) {
    const std::size_t last = cut(histories, first, clicks.part);
    const auto part = [this, own = part_of(histories, first, last), seed = pass.next_seed(),
                       training = pass.training](const Tensor& vectors) {
      Pass again{training, seed};
      return encode_users(vectors, own, again);
    };
    parts.push_back(recomputed(part, item_vectors, trained()));
    first = last;
  }
  return torch::cat(parts);
}

Tensor NewsRecommender::scores(const ScoreRequest& request, Pass& pass) {
  // What a training pass may keep of items and of clicks. Where users are told apart batches are cut by users
  // instead, and a card has memory enough.
  constexpr std::int64_t item_budget = std::int64_t{1} << 29, click_budget = std::int64_t{1} << 28;
  const bool bounded = torch::GradMode::is_enabled() && !pass.users && !request.items.empty() &&
                       request.histories.size() > 0 && parameters().front().is_cpu();
  const KeptGraph items_kept = within(item_budget, bytes_per_item());
  const Tensor items = bounded && !bounds_its_memory() && request.items.size() > items_kept.kept
                           ? encode_items_in_parts(request.items, pass, items_kept)
                           : encode_items(request.items, pass);
  const KeptGraph clicks_kept =
      within(click_budget, rows_kept * vector_size() * static_cast<std::int64_t>(sizeof(float)));
  const Tensor users = bounded ? encode_users_in_parts(items, request.histories, pass, clicks_kept)
                               : encode_users(items, request.histories, pass);
  return dot_pairs(items, request.pair_item, users, request.pair_history);
}

}  // namespace sotto::model
