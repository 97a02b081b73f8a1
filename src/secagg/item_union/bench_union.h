#pragma once
// Cost of the union of item sets over a catalogue of a million items: the sparse forms beside one entry per
// item, in the same run and with the answers compared. Times are processor time of the calling thread.

#include <vector>

#include "base/bench.h"
#include "base/result.h"

namespace sotto {

// Fails when an answer differs from the union computed in the clear.
Result<std::vector<BenchRow>> bench_union();

}  // namespace sotto
