#pragma once
// Search over full item vectors through faiss: exhaustive, or by its HNSW graph. For comparison, and for uses
// where the query needs no protection.
//
// Built once and then immutable; safe to share between threads. Filters are refused: they are for LiveIndex.

#include <memory>

#include "serving/index/item_index.h"

namespace faiss {
struct Index;
}

namespace sotto::serving {

class FaissIndex final : public ItemIndex {
 public:
  static Result<std::unique_ptr<FaissIndex>> create_flat(std::size_t dimension);
  // links: edges per item; effort: candidates looked at per search.
  static Result<std::unique_ptr<FaissIndex>> create_graph(std::size_t dimension, int links, int effort);
  ~FaissIndex() override;
  FaissIndex(const FaissIndex&) = delete;
  FaissIndex& operator=(const FaissIndex&) = delete;

  // Before the first search. rows: numbers and full vectors; their tags are ignored.
  Status add(const RowBatch& rows);

  std::size_t dimension() const override;
  std::size_t size() const override { return items_.size(); }
  std::size_t bytes() const override;
  Result<std::vector<ScoredItem>> search(std::span<const float> query, std::uint32_t k,
                                         const ItemFilter& filter = {}) const override;
  Result<std::vector<std::vector<ScoredItem>>> search_batch(std::span<const float> queries, std::uint32_t k,
                                                            const ItemFilter& filter = {}) const override;

 private:
  FaissIndex(std::unique_ptr<faiss::Index> index, std::size_t link_bytes);
  std::unique_ptr<faiss::Index> index_;
  std::size_t link_bytes_;  // per item
  std::vector<ItemNumber> items_;
};

}  // namespace sotto::serving
