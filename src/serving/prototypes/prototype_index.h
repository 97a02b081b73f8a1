#pragma once
// Answers for public prototypes of interest, ready before they are asked for.
//
// A row is an item's scores with the K prototypes; a query is the indicator (zeros and ones) of the
// prototypes asked about, and an item's score is the best it has with any of them. Each prototype has the
// list of its best items, kept exact through every update; what a list is too short for (a large k, a
// selective filter) is answered by the exact index beneath, which also fills lists up that removals have worn
// down.
//
// Threads and updates: as LiveIndex.

#include <memory>
#include <mutex>

#include "serving/index/live_index.h"
#include "serving/index/published.h"
#include "serving/prototypes/top_list.h"

namespace sotto::serving {

class PrototypeIndex final : public ItemIndex {
 public:
  static constexpr std::size_t default_list_length = 1024;
  static Result<std::unique_ptr<PrototypeIndex>> create(
      std::size_t prototypes, std::size_t list_length = default_list_length,
      LiveIndex::Merging merging = LiveIndex::Merging::in_background);

  Status update(const IndexUpdate& update);

  std::size_t dimension() const override { return index_->dimension(); }
  std::size_t size() const override { return index_->size(); }
  std::size_t bytes() const override;
  Result<std::vector<ScoredItem>> search(std::span<const float> indicator, std::uint32_t k,
                                         const ItemFilter& filter = {}) const override;
  Result<std::vector<std::vector<ScoredItem>>> search_batch(std::span<const float> indicators,
                                                            std::uint32_t k,
                                                            const ItemFilter& filter = {}) const override;
  // The same for prototypes by number, without the detour over an indicator.
  Result<std::vector<ScoredItem>> best_of(std::span<const std::uint32_t> prototypes, std::uint32_t k,
                                          const ItemFilter& filter = {}) const;

 private:
  using Lists = std::vector<std::shared_ptr<const TopList>>;
  PrototypeIndex(std::unique_ptr<LiveIndex> index, std::size_t list_length);
  Result<std::shared_ptr<const TopList>> list_from_index(std::size_t prototype) const;
  Result<std::shared_ptr<const TopList>> changed(std::size_t prototype,
                                                 const std::shared_ptr<const TopList>& list,
                                                 const IndexUpdate& update) const;
  Result<std::vector<ScoredItem>> top(const Lists& lists, std::uint32_t prototype, std::uint32_t k,
                                      const ItemFilter& filter) const;

  std::unique_ptr<LiveIndex> index_;
  std::size_t list_length_;
  std::mutex writing_;
  Published<Lists> lists_;
};

}  // namespace sotto::serving
