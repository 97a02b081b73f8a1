#pragma once
// Which items stand together: one cluster for every taste, made of the items that it likes best.
//
// A device asks about the cluster whose taste is most like its reader's, and what that cluster does not hold
// is not seen. So clusters are not parts of the catalogue but lists, and lists overlap: an item stands
// wherever it is among the best. Every item has a home besides, the cluster that comes nearest to wanting
// it, whether anybody's taste brings it up or not.
//
// Tastes are made from the items alone: means of items from a few groups of alike ones, as a history of
// clicks would have them, summarised by so many directions. Nothing of any reader is used.
//
// Deterministic: the same vectors give the same clusters, whatever the number of threads.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "blind/parameters.h"

namespace sotto::serving {

struct Clusters {
  std::vector<float> tastes;                         // [C, d], of length 1
  std::vector<float> centroids;                      // [C, d]: means of what a taste likes best
  std::vector<std::vector<std::uint32_t>> items_of;  // by cluster, ascending, at most M
};

// vectors: rows of shape.dimension finite numbers, at most shape.slots() of them.
Result<Clusters> make_clusters(std::span<const float> vectors, const blind::Shape& shape);

}  // namespace sotto::serving
