#pragma once
// Items in clusters of at most M, by k-means of a sample and a bounded assignment: an item goes to the
// nearest centroid that has room.
//
// Deterministic: the same vectors give the same clusters, whatever the number of threads.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "blind/parameters.h"

namespace sotto::serving {

struct Clusters {
  std::vector<float> centroids;        // [C, d]: means of what was assigned
  std::vector<std::uint32_t> slot_of;  // by item: cluster · rows + place
};

// vectors: rows of shape.dimension finite numbers, at most shape.slots() of them.
Result<Clusters> make_clusters(std::span<const float> vectors, const blind::Shape& shape);

}  // namespace sotto::serving
