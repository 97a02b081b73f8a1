#pragma once
// The public vectors of a device pack, made from the item side: prototypes that a device names, basis vectors
// that it weighs, and the average user. All are user vectors as the model makes them, so a device compares
// with its own vector as it is, and a server ranks items by them as they are.
//
// A prototype is the mean of the simulated readers who would name it: nearest by cosine, which is the
// device's rule. The search for them starts from clusters in the ranking space, where distance means a
// different ranking.

#include <cstdint>
#include <vector>

#include "publish/ranking_space.h"
#include "publish/rows.h"

namespace sotto::publish {

// Lloyd's algorithm, seeded, on all threads; the result does not depend on how many.
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

struct Codebook {
  Rows prototypes;                  // [K, d]
  Rows basis;                       // [B, d]
  std::vector<float> average_user;  // [d]
};

// K vectors, fewer where there are fewer readers. reader_vectors: simulated readers as the model makes them.
Rows make_prototypes(const RankingSpace& space, const Rows& reader_vectors, std::size_t count,
                     std::uint64_t seed);

// The same vectors, made so long that their mixtures by attention, softmax(u·b/√d), rank most like the
// reader.
Rows make_basis(const RankingSpace& space, const Rows& reader_vectors, std::size_t count, std::uint64_t seed);

Codebook make_codebook(const RankingSpace& space, const Rows& reader_vectors, std::size_t prototypes,
                       std::size_t basis, std::uint64_t seed);

}  // namespace sotto::publish
