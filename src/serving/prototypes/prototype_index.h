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
#include <vector>

#include "serving/index/item_index.h"
#include "serving/index/live_index.h"
#include "serving/index/published.h"

namespace sotto::serving {

// The best items of one prototype: the exact beginning of its ranking over all live items, however long it
// is.
//
// While it covers the whole pool everything new belongs into it; once something was cut off behind the limit,
// only what ranks before its last entry is known to belong, and removals shorten it until it is filled again.
// One owner while it is changed; any number of readers after.
class TopList {
 public:
  explicit TopList(std::size_t limit) : limit_(limit) {}
  // The first entries of the ranking; covers_pool: there are no others.
  TopList(std::size_t limit, std::vector<ScoredItem> entries, bool covers_pool)
      : limit_(limit), entries_(std::move(entries)), covers_pool_(covers_pool) {}

  bool would_take(const ScoredItem& entry) const;
  void insert(const ScoredItem& entry);  // if would_take()
  bool contains(ItemNumber item) const;
  void remove(ItemNumber item);  // if contains()

  bool covers_pool() const { return covers_pool_; }
  // Too short to be relied upon for much longer.
  bool is_worn() const { return !covers_pool_ && entries_.size() < limit_ / 2; }
  std::span<const ScoredItem> entries() const { return entries_; }

 private:
  std::size_t limit_;
  std::vector<ScoredItem> entries_;  // by ranks_before
  bool covers_pool_ = true;
};

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
