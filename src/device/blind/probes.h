#pragma once
// Which clusters a device asks about, and what their decrypted products say about items.

#include <cstdint>
#include <span>
#include <vector>

#include "blind/guide.h"

namespace sotto::device {

// The clusters whose centroids score highest, best first, as many as the guide's probes (or clusters). No
// branch and no index depends on the user vector.
std::vector<std::uint32_t> nearest_clusters(const blind::Guide& guide, std::span<const float> user);

struct SlotScore {
  std::uint32_t slot = 0;
  float score = 0;
};
// Of the items of a cluster, by their slots: u·centroid + step/scale·product. products: one per row.
std::vector<SlotScore> cluster_scores(const blind::Guide& guide, std::span<const float> user, float scale,
                                      std::uint32_t cluster, std::span<const std::int32_t> products);

}  // namespace sotto::device
