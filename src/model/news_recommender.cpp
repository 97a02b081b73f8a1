#include "model/news_recommender.h"

namespace sotto {

using torch::Tensor;

Tensor dot_pairs(const Tensor& a, std::span<const std::int64_t> rows_a, const Tensor& b,
                 std::span<const std::int64_t> rows_b) {
  return (gather_rows(a, {rows_a.begin(), rows_a.end()}) * gather_rows(b, {rows_b.begin(), rows_b.end()}))
      .sum(-1);
}

Tensor NewsRecommender::scores(const ScoreRequest& request, Pass& pass) {
  const Tensor items = encode_items(request.items, pass);
  const Tensor users = encode_users(items, request.histories, pass);
  return dot_pairs(items, request.pair_item, users, request.pair_history);
}

}  // namespace sotto
