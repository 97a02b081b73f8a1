#pragma once
// How many clusters and how many items in each. Clusters of 2,048, whose part of the hint is 8 MB, and three
// times as many as all items need, at least 128: clusters are lists of what a taste likes, and an item stands
// in several. From a million items on there are no more clusters for that, as every one adds to what a
// question costs; from four million on there are √N of clusters and slots. Fewer clusters where the bytes of
// a refresh ask for it, smaller ones where those of the hint do. A refresh asks about three clusters, and
// from 100,000 items on about one.
//
// A probe costs 4·d·C bytes up and 4·M down, the hint 4·1024·M once.

#include <optional>

#include "blind/parameters.h"

namespace sotto::blind {

struct ShapeBudget {
  std::size_t refresh_bytes = std::size_t{1} << 20;  // up and down, all probes of a refresh
  std::size_t hint_bytes = std::size_t{64} << 20;
  std::optional<std::uint32_t> probes;  // none: by the number of items, or as many as fit
};

// At least so many, so that homes of items need not be equally full.
std::size_t slots_for(std::size_t items);

struct ShapeCost {
  std::size_t up = 0, down = 0;  // per refresh
  std::size_t hint = 0;
  std::size_t database = 0;  // on the server: half a byte per number
};
ShapeCost cost_of(const Shape& shape);

// Refused when no shape fits the budget: it says how many bytes would.
Result<Shape> choose_shape(std::size_t items, std::uint32_t dimension, const ShapeBudget& budget);

}  // namespace sotto::blind
