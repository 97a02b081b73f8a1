#pragma once
// The training unit of the news papers: one click of an impression against K items of the same impression
// that were shown and not clicked.

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "data/dataset.h"

namespace sotto {

struct TrainingSample {
  std::uint32_t impression;        // Dataset::impression(impression)
  std::uint32_t clicked_position;  // in shown; clicked[clicked_position] is 1
};

// One sample per click of the user's impressions of that split, in time order. An impression in which
// everything was clicked yields none: it holds nothing to rank the click against.
std::vector<TrainingSample> training_samples(const Dataset& dataset, UserId user, Split split);

// Replaces `out` by `count` items that were shown and not clicked, in random order. Distinct positions while
// there are enough; otherwise each is repeated equally often, give or take one, as the papers' code does.
// False, and nothing in `out`, when every item was clicked.
bool sample_negatives(const Impression& impression, std::size_t count, RandomSource& random,
                      std::vector<ItemId>& out);

}  // namespace sotto
