#include "model/news/ranking_model.h"

namespace sotto {

using torch::Tensor;

void Histories::add(std::span<const std::int64_t> history, UserId user) {
  rows.insert(rows.end(), history.begin(), history.end());
  offsets.push_back(static_cast<std::int64_t>(rows.size()));
  users.push_back(user);
}

RaggedRows clicks_of(const Tensor& item_vectors, const Histories& histories, const Pass& pass) {
  // Row M of the table is the blank item.
  const std::int64_t blank = item_vectors.size(0);
  const Tensor table =
      torch::cat({item_vectors, torch::zeros({1, item_vectors.size(1)}, item_vectors.options())});
  std::vector<std::int64_t> rows, offsets = {0};
  for (std::size_t u = 0; u < histories.size(); ++u) {
    rows.insert(rows.end(), histories.rows.begin() + histories.offsets[u],
                histories.rows.begin() + histories.offsets[u + 1]);
    if (histories.offsets[u] == histories.offsets[u + 1]) rows.push_back(blank);
    offsets.push_back(static_cast<std::int64_t>(rows.size()));
  }
  return {gather_rows(table, std::move(rows)), Segments(std::move(offsets), pass.history_owners())};
}

}  // namespace sotto
