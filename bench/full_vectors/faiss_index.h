#pragma once
// Exhaustive search over full item vectors through faiss, that ours is compared with.
//
// Built once and then immutable; safe to share between threads. Filters are refused: they are for LiveIndex.

#include <memory>

#include "serving/index/item_index.h"

namespace faiss {
struct Index;
}

namespace sotto::bench {

class FaissIndex final : public serving::ItemIndex {
 public:
  static Result<std::unique_ptr<FaissIndex>> create(std::size_t dimension);
  ~FaissIndex() override;
  FaissIndex(const FaissIndex&) = delete;
  FaissIndex& operator=(const FaissIndex&) = delete;

  // Before the first search. rows: numbers and full vectors; their tags are ignored.
  Status add(const serving::RowBatch& rows);

  std::size_t dimension() const override;
  std::size_t size() const override { return items_.size(); }
  std::size_t bytes() const override;
  Result<std::vector<serving::ScoredItem>> search(std::span<const float> query, std::uint32_t k,
                                                  const serving::ItemFilter& filter = {}) const override;
  Result<std::vector<std::vector<serving::ScoredItem>>> search_batch(
      std::span<const float> queries, std::uint32_t k, const serving::ItemFilter& filter = {}) const override;

 private:
  explicit FaissIndex(std::unique_ptr<faiss::Index> index);
  std::unique_ptr<faiss::Index> index_;
  std::vector<serving::ItemNumber> items_;
};

}  // namespace sotto::bench
