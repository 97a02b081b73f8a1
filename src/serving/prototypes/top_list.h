#pragma once
// The best items of one prototype: the exact beginning of its ranking over all live items, however long it
// is.
//
// While it covers the whole pool everything new belongs into it; once something was cut off behind the limit,
// only what ranks before its last entry is known to belong, and removals shorten it until it is filled again.
// One owner while it is changed; any number of readers after.

#include <vector>

#include "serving/index/item_index.h"

namespace sotto::serving {

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

}  // namespace sotto::serving
