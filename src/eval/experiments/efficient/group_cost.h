#pragma once
// What a group of users costs beside training: the union of its items, and the secure sum.

#include <vector>

#include "data/dataset.h"
#include "eval/experiments/grid/grid.h"

namespace sotto {

// The items that a user's training touches: clicks before and in training impressions, and the items shown
// there that were not clicked, as far as samples of `negatives` per click would draw them. By user.
std::vector<std::vector<std::uint32_t>> training_items(const Dataset& dataset, std::size_t negatives,
                                                       std::uint64_t seed);

// By group size: size of the union, share of it that one user alone holds, and seconds of a secure sum of
// `numbers` 16-bit numbers (left out where the build has no secure aggregation).
Result<GridExtra> group_costs(const Dataset& dataset, const std::vector<std::int64_t>& group_sizes,
                              std::size_t numbers);

}  // namespace sotto
