#include "publish/k_means.h"

#include <algorithm>

#include "base/distributions.h"
#include "publish/rows.h"

namespace sotto::publish {

namespace {

constexpr std::size_t points_at_once = 4096;  // bounds the table of scores

void assign(const Rows& points, ClusterShape shape, Clusters& clusters) {
  std::vector<float> penalty(clusters.centres.size());
  if (shape == ClusterShape::distance) {
    for (std::size_t k = 0; k < penalty.size(); ++k)
      penalty[k] = static_cast<float>(dot(clusters.centres[k], clusters.centres[k]) / 2);
  }
  for (std::size_t first = 0; first < points.size(); first += points_at_once) {
    const std::size_t count = std::min(points_at_once, points.size() - first);
    Rows chunk(count, points.width);
    std::copy_n(points.values.begin() + static_cast<std::ptrdiff_t>(first * points.width),
                chunk.values.size(), chunk.values.begin());
    Rows scores = products(chunk, clusters.centres);
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = scores[i];
      for (std::size_t k = 0; k < row.size(); ++k) row[k] -= penalty[k];
      clusters.assignment[first + i] =
          static_cast<std::uint32_t>(std::max_element(row.begin(), row.end()) - row.begin());
    }
  }
}

void move_centres(const Rows& points, ClusterShape shape, Clusters& clusters) {
  const std::size_t width = points.width;
  std::vector<double> sums(clusters.centres.values.size());
  std::vector<std::size_t> counts(clusters.centres.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t k = clusters.assignment[i];
    ++counts[k];
    for (std::size_t j = 0; j < width; ++j) sums[k * width + j] += points[i][j];
  }
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    const auto centre = clusters.centres[k];
    for (std::size_t j = 0; j < width; ++j)
      centre[j] = static_cast<float>(sums[k * width + j] / static_cast<double>(counts[k]));
    if (shape == ClusterShape::direction) normalise(centre);
  }
}

}  // namespace

Clusters k_means(const Rows& points, std::size_t k, ClusterShape shape, int iterations, std::uint64_t seed) {
  k = std::min(k, points.size());
  SeededRandom random(seed, Purpose::initialisation);
  const auto chosen = sample_without_replacement(static_cast<std::uint32_t>(points.size()),
                                                 static_cast<std::uint32_t>(k), random);
  Clusters clusters{Rows(k, points.width), std::vector<std::uint32_t>(points.size())};
  for (std::size_t c = 0; c < k; ++c)
    std::copy(points[chosen[c]].begin(), points[chosen[c]].end(), clusters.centres[c].begin());
  if (shape == ClusterShape::direction) normalise_rows(clusters.centres);
  for (int i = 0; i < iterations; ++i) {
    assign(points, shape, clusters);
    move_centres(points, shape, clusters);
  }
  assign(points, shape, clusters);
  return clusters;
}

}  // namespace sotto::publish
