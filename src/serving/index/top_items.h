#pragma once
// The best k of the items offered so far. One owner, one thread.

#include <algorithm>
#include <limits>
#include <vector>

#include "serving/index/item_index.h"

namespace sotto::serving {

class TopItems {
 public:
  // k >= 1
  explicit TopItems(std::uint32_t k) : k_(k) { heap_.reserve(std::min<std::uint32_t>(k, 1024)); }

  // What an item must reach to be worth offering: at equal score its number decides.
  double threshold() const {
    return heap_.size() < k_ ? -std::numeric_limits<double>::infinity() : heap_.front().score;
  }

  bool would_take(double score, ItemNumber item) const {
    return heap_.size() < k_ || ranks_before({score, item, {}}, heap_.front());
  }

  void offer(const ScoredItem& item) {
    if (heap_.size() < k_) {
      heap_.push_back(item);
      std::push_heap(heap_.begin(), heap_.end(), ranks_before);
    } else if (ranks_before(item, heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), ranks_before);
      heap_.back() = item;
      std::push_heap(heap_.begin(), heap_.end(), ranks_before);
    }
  }

  std::vector<ScoredItem> take() && {
    std::sort(heap_.begin(), heap_.end(), ranks_before);
    return std::move(heap_);
  }

 private:
  std::uint32_t k_;
  std::vector<ScoredItem> heap_;  // the worst kept item in front
};

}  // namespace sotto::serving
