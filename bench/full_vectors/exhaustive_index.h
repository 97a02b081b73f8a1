#pragma once
// Search over full item vectors by scoring every one: what there is without faiss, and a yardstick.
//
// Built once and then immutable; safe to share between threads. Filters are refused: they are for LiveIndex.

#include <memory>

#include "serving/index/item_index.h"

namespace sotto::bench {

class ExhaustiveIndex final : public serving::ItemIndex {
 public:
  static Result<std::unique_ptr<ExhaustiveIndex>> create(std::size_t dimension);

  // Before the first search.
  Status add(const serving::RowBatch& rows);

  std::size_t dimension() const override { return rows_.dimension; }
  std::size_t size() const override { return rows_.size(); }
  std::size_t bytes() const override;
  Result<std::vector<serving::ScoredItem>> search(std::span<const float> query, std::uint32_t k,
                                                  const serving::ItemFilter& filter = {}) const override;
  Result<std::vector<std::vector<serving::ScoredItem>>> search_batch(
      std::span<const float> queries, std::uint32_t k, const serving::ItemFilter& filter = {}) const override;

 private:
  explicit ExhaustiveIndex(std::size_t dimension) { rows_.dimension = dimension; }
  serving::RowBatch rows_;
};

}  // namespace sotto::bench
