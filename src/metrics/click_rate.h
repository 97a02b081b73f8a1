#pragma once
// Popularity as a ranking: how often an item is clicked when shown. The rate is smoothed towards the mean of
// all items, so an item never shown stands in the middle, not at the end. On news that is far stronger than
// counting clicks, which ranks everything fresh last.

#include <cstdint>
#include <span>
#include <vector>

namespace sotto {

// Not thread-safe.
class ClickRates {
 public:
  explicit ClickRates(std::size_t items) : shown_(items, 0), clicked_(items, 0) {}
  // One impression: what was shown, and 1 where it was clicked. Items below the number given above.
  void add(std::span<const std::uint32_t> shown, std::span<const std::uint8_t> clicked);
  // (clicks + prior * mean) / (times shown + prior) per item, 0 for all when nothing was shown.
  std::vector<float> smoothed() const;

  static constexpr double prior = 100;  // times shown that weigh as much as the mean of all items

 private:
  std::vector<std::uint64_t> shown_, clicked_;
};

}  // namespace sotto
