#pragma once
// Cost of the union of item sets over a catalogue of a million items: the sparse forms beside one entry per
// item, in the same run and with the answers compared. Times are processor time of the calling thread.

#include <string>
#include <vector>

#include "base/result.h"

namespace sotto {

struct UnionBenchRow {
  std::string name;
  double ours = 0;
  double baseline = 0;
  double ratio = 0;  // baseline over ours: how many times less
  std::string unit;
  std::string against;
};

// Fails when an answer differs from the union computed in the clear.
Result<std::vector<UnionBenchRow>> bench_union();

}  // namespace sotto
