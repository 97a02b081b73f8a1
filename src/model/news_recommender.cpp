#include "model/news_recommender.h"

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

Tensor NewsRecommender::scores(const ScoreRequest& request, Pass& pass) {
  const Tensor items = encode_items(request.items, pass);
  const Tensor users = encode_users(items, request.histories, pass);
  return dot_pairs(items, request.pair_item, users, request.pair_history);
}

}  // namespace sotto
