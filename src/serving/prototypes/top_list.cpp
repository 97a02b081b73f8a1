#include "serving/prototypes/top_list.h"

#include <algorithm>

namespace sotto::serving {

namespace {

auto with_item(ItemNumber item) {
  return [item](const ScoredItem& entry) { return entry.item == item; };
}

}  // namespace

bool TopList::would_take(const ScoredItem& entry) const {
  if (covers_pool_ && entries_.size() < limit_) return true;
  return !entries_.empty() && ranks_before(entry, entries_.back());
}

void TopList::insert(const ScoredItem& entry) {
  entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), entry, ranks_before), entry);
  if (entries_.size() > limit_) {
    entries_.pop_back();
    covers_pool_ = false;
  }
}

bool TopList::contains(ItemNumber item) const {
  return std::any_of(entries_.begin(), entries_.end(), with_item(item));
}

void TopList::remove(ItemNumber item) {
  entries_.erase(std::find_if(entries_.begin(), entries_.end(), with_item(item)));
}

}  // namespace sotto::serving
