#pragma once
// Exact search in one segment. What is skipped is proved to be skippable: a block or row is passed over only
// when its upper bound, less the rounding slack, stays below the k-th best exact score found so far.

#include "serving/index/item_index.h"
#include "serving/index/scaled_query.h"
#include "serving/index/segment.h"

namespace sotto::serving {

// One query on its way through the segments. Scores in `top` are scaled as the query is.
struct RunningQuery {
  ScaledQuery query;
  TopItems top;
};

// Blocks in descending order of their bounds until no further one can matter.
void search_segment(const Segment& segment, const RowSet& alive, const ItemFilter& filter,
                    RunningQuery& running);

// Each query best-first up to a fixed number of blocks; those that are not finished then share one pass over
// the memory. The same answers as search_segment() for each.
void search_segment(const Segment& segment, const RowSet& alive, const ItemFilter& filter,
                    std::span<RunningQuery> queries);

}  // namespace sotto::serving
