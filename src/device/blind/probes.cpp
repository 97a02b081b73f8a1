#include "device/blind/probes.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sotto::device {

namespace {

float dot(std::span<const float> left, std::span<const float> right) {
  float sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) sum += left[i] * right[i];
  return sum;
}

std::span<const float> centroid(const blind::Guide& guide, std::size_t cluster) {
  const std::size_t dimension = guide.parameters.shape.dimension;
  return std::span(guide.centroids).subspan(cluster * dimension, dimension);
}

// Whole numbers in the order of the floats, above 0 (NaN, of a hostile model, somewhere).
std::uint32_t order_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits ^ ((0U - (bits >> 31)) | 0x80000000U)) | 1U;
}

// All ones where left > right.
std::uint32_t mask_greater(std::uint32_t left, std::uint32_t right) {
  const auto wide_left = static_cast<std::uint64_t>(left), wide_right = static_cast<std::uint64_t>(right);
  return static_cast<std::uint32_t>((wide_right - wide_left) >> 32);
}

std::uint32_t mask_equal(std::uint32_t left, std::uint32_t right) {
  const std::uint32_t difference = left ^ right;
  return ((difference | (0U - difference)) >> 31) - 1;
}

}  // namespace

std::vector<std::uint32_t> nearest_clusters(const blind::Guide& guide, std::span<const float> user) {
  const blind::Shape& shape = guide.parameters.shape;
  std::vector<std::uint32_t> orders(shape.clusters);
  for (std::uint32_t c = 0; c < shape.clusters; ++c) orders[c] = order_of(dot(user, centroid(guide, c)));
  std::vector<std::uint32_t> nearest(shape.probes);
  for (std::uint32_t& best : nearest) {
    std::uint32_t highest = 0;
    for (std::uint32_t c = 0; c < shape.clusters; ++c) {
      const std::uint32_t better = mask_greater(orders[c], highest);
      highest = (orders[c] & better) | (highest & ~better);
      best = (c & better) | (best & ~better);
    }
    for (std::uint32_t c = 0; c < shape.clusters; ++c) orders[c] &= ~mask_equal(c, best);
  }
  return nearest;
}

std::vector<ItemScore> cluster_scores(const blind::Guide& guide, std::span<const float> user, float scale,
                                      std::uint32_t cluster, std::span<const std::int32_t> products) {
  const blind::Shape& shape = guide.parameters.shape;
  const float base = dot(user, centroid(guide, cluster));
  const float step = guide.steps[cluster] / scale;
  std::vector<ItemScore> scores;
  for (std::uint32_t row = 0; row < std::min<std::size_t>(shape.rows, products.size()); ++row) {
    const std::uint32_t item = guide.places[std::size_t{cluster} * shape.rows + row];
    if (item != blind::no_item) scores.push_back({item, base + step * static_cast<float>(products[row])});
  }
  return scores;
}

std::vector<ItemScore> ranked_once(std::vector<ItemScore> scores) {
  std::erase_if(scores, [](const ItemScore& score) { return !std::isfinite(score.score); });
  std::stable_sort(scores.begin(), scores.end(),
                   [](const ItemScore& a, const ItemScore& b) { return a.item < b.item; });
  std::vector<ItemScore> once;
  for (std::size_t first = 0, end = 0; first < scores.size(); first = end) {
    double sum = 0;
    for (; end < scores.size() && scores[end].item == scores[first].item; ++end) sum += scores[end].score;
    once.push_back({scores[first].item, static_cast<float>(sum / static_cast<double>(end - first))});
  }
  std::sort(once.begin(), once.end(), [](const ItemScore& a, const ItemScore& b) {
    return a.score != b.score ? a.score > b.score : a.item < b.item;
  });
  return once;
}

}  // namespace sotto::device
