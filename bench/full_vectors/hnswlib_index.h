#pragma once
// Approximate search over full item vectors by hnswlib's graph.
//
// Built once and then immutable but for set_effort(); safe to share between threads. Filters are refused.

#include <memory>

#include "serving/index/item_index.h"

namespace sotto::bench {

class HnswlibIndex final : public serving::ItemIndex {
 public:
  // links: edges per item; building_effort: candidates looked at per insertion. Uses all threads.
  static Result<std::unique_ptr<HnswlibIndex>> create(const serving::RowBatch& rows, int links,
                                                      int building_effort);
  ~HnswlibIndex() override;
  HnswlibIndex(const HnswlibIndex&) = delete;
  HnswlibIndex& operator=(const HnswlibIndex&) = delete;

  void set_effort(std::size_t effort);  // candidates looked at per search; not while searching

  std::size_t dimension() const override;
  std::size_t size() const override;
  std::size_t bytes() const override;
  Result<std::vector<serving::ScoredItem>> search(std::span<const float> query, std::uint32_t k,
                                                  const serving::ItemFilter& filter = {}) const override;
  Result<std::vector<std::vector<serving::ScoredItem>>> search_batch(
      std::span<const float> queries, std::uint32_t k, const serving::ItemFilter& filter = {}) const override;

 private:
  struct Graph;
  explicit HnswlibIndex(std::unique_ptr<Graph> graph);
  std::unique_ptr<Graph> graph_;
};

}  // namespace sotto::bench
