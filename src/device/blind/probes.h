#pragma once
// Which clusters a device asks about, and what their decrypted products say about items. User vectors are
// rotated, as all of a guide is.

#include <cstdint>
#include <span>
#include <vector>

#include "blind/guide.h"

namespace sotto::device {

// The clusters whose centroids score highest, best first, as many as the guide's probes (or clusters). No
// branch and no index depends on the user vector.
std::vector<std::uint32_t> nearest_clusters(const blind::Guide& guide, std::span<const float> user);

struct ItemScore {
  std::uint32_t item = 0;  // counted in the guide's ids
  float score = 0;
};
// Of the items of a cluster, slot by slot: u·centroid + step/scale·product. products: one per row.
std::vector<ItemScore> cluster_scores(const blind::Guide& guide, std::span<const float> user, float scale,
                                      std::uint32_t cluster, std::span<const std::int32_t> products);
// Every item once, best first. An item stands in several clusters, each with an error of its own: it gets the
// mean of what they say. Scores that are not finite, of a hostile guide, are left out.
std::vector<ItemScore> ranked_once(std::vector<ItemScore> scores);

}  // namespace sotto::device
