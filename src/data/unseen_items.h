#pragma once
// Draws items a user never touched, with given weights and without replacement.

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "data/dataset.h"

namespace sotto::data {

// One weight per item; at least one must be positive, and items of weight 0 are never drawn. Immutable after
// construction: one instance may serve many threads, each with its own marks.
class UnseenItems {
 public:
  explicit UnseenItems(std::span<const std::uint64_t> weights);

  // Appends up to `count` different items with marks[item] == 0 to `out`, each drawn proportionally to the
  // weights of those still left, and fewer only when no more exist. Marks are as many as items; those of
  // drawn items are set to 1.
  void draw(std::size_t count, std::span<std::uint8_t> marks, RandomSource& random,
            std::vector<ItemId>& out) const;

  // The same distribution, always by one pass over all items; what draw() falls back to when nearly all of
  // the weight is marked.
  void draw_by_scan(std::size_t count, std::span<std::uint8_t> marks, RandomSource& random,
                    std::vector<ItemId>& out) const;

 private:
  std::vector<std::uint64_t> cumulative_;  // sums of the weights, up to and with each item
};

}  // namespace sotto::data
