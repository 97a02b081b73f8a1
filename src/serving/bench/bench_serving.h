#pragma once
// Searching the live pool against libraries that search full vectors: same process, same items, answers
// compared. Without faiss and hnswlib the baseline is an exhaustive scan of the vectors.

#include <vector>

#include "base/bench.h"
#include "base/result.h"

namespace sotto::serving {

struct ServingBench {
  std::size_t items = 1'000'000;
  std::size_t graph_items = 200'000;  // hnswlib takes minutes to build its graph
};

Result<std::vector<BenchRow>> bench_serving(const ServingBench& settings = {});

// Ranking on the device: what a server returned against the whole pool.
Result<BenchRow> bench_device_ranking();

}  // namespace sotto::serving
