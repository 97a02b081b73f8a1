#pragma once
// Lloyd's algorithm, seeded, on all threads; the result does not depend on how many.

#include <cstdint>

#include "publish/rows.h"

namespace sotto::publish {

struct Clusters {
  Rows centres;                           // min(k, points.size()) rows
  std::vector<std::uint32_t> assignment;  // of every point
};

enum class ClusterShape {
  distance,   // nearest in Euclidean distance, centre = mean
  direction,  // largest dot product, centre = mean made length 1
};

// Starts from distinct points drawn at random; an empty cluster keeps its centre. k > 0, points not empty.
Clusters k_means(const Rows& points, std::size_t k, ClusterShape shape, int iterations, std::uint64_t seed);

}  // namespace sotto::publish
