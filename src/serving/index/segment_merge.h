#pragma once
// Which segments to merge, and the merge itself.

#include "serving/index/index_snapshot.h"

namespace sotto::serving {

// Positions in `parts` that should become one segment: several of similar size, or one that is half dead.
// Empty when nothing is due. Every row is rewritten a logarithmic number of times.
std::vector<std::size_t> merge_candidates(std::span<const SegmentPart> parts);

// The live rows of some segments as one. Needs no lock: everything it reads is immutable.
SegmentPart merge(std::span<const SegmentPart> parts);

// Takes the rows that died while `merged` was being made out of it. before, now: the same segments.
void catch_up(SegmentPart& merged, const SegmentPart& before, const SegmentPart& now);

}  // namespace sotto::serving
