#include "publish/codebook.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/distributions.h"
#include "base/progress.h"
#include "privacy/mechanisms/softmax.h"
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
  Progress progress("grouping", static_cast<std::uint64_t>(iterations), "passes");
  for (int i = 0; i < iterations; ++i) {
    progress.advance();
    assign(points, shape, clusters);
    move_centres(points, shape, clusters);
  }
  assign(points, shape, clusters);
  return clusters;
}

namespace {

constexpr int cluster_iterations = 12, naming_iterations = 6;
constexpr std::size_t readers_to_tune_by = 1000;
constexpr std::array basis_scales = {0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0};

// Mean of the rows of each group; a group without rows keeps what it had.
void move_to_means(const Rows& rows, std::span<const std::uint32_t> group_of, Rows& means) {
  std::vector<double> sums(means.values.size());
  std::vector<std::size_t> counts(means.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ++counts[group_of[i]];
    for (std::size_t j = 0; j < rows.width; ++j) sums[group_of[i] * rows.width + j] += rows[i][j];
  }
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    for (std::size_t j = 0; j < rows.width; ++j)
      means[k][j] = static_cast<float>(sums[k * rows.width + j] / static_cast<double>(counts[k]));
  }
}

// Which prototype each reader's device names: the largest cosine, for which only the prototypes' lengths
// matter.
std::vector<std::uint32_t> named(const Rows& readers, Rows prototypes) {
  normalise_rows(prototypes);
  const Rows similarities = products(readers, prototypes);
  std::vector<std::uint32_t> names(readers.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto row = similarities[i];
    names[i] = static_cast<std::uint32_t>(std::max_element(row.begin(), row.end()) - row.begin());
  }
  return names;
}

// Σ α_b · basis_b with α = softmax(scale · u·basis/√d), per reader.
Rows mixtures(const Rows& readers, const Rows& basis, double scale) {
  const Rows scores = products(readers, basis);
  const double root = std::sqrt(static_cast<double>(basis.width));
  Rows mixed(readers.size(), basis.width);
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    std::vector<double> weights(scores[i].begin(), scores[i].end());
    for (double& weight : weights) weight *= scale / root;
    weights = privacy::softmax(std::move(weights));
    for (std::size_t b = 0; b < weights.size(); ++b) {
      for (std::size_t j = 0; j < basis.width; ++j)
        mixed[i][j] += static_cast<float>(weights[b] * basis[b][j]);
    }
  }
  return mixed;
}

}  // namespace

Rows make_prototypes(const RankingSpace& space, const Rows& reader_vectors, std::size_t count,
                     std::uint64_t seed) {
  const Rows comparable = space.comparable(reader_vectors);
  const Clusters clusters =
      k_means(space.readers(reader_vectors), count, ClusterShape::direction, cluster_iterations, seed);
  Rows prototypes(clusters.centres.size(), reader_vectors.width);
  move_to_means(comparable, clusters.assignment, prototypes);
  for (int i = 0; i < naming_iterations; ++i)
    move_to_means(comparable, named(reader_vectors, prototypes), prototypes);
  return prototypes;
}

Rows make_basis(const RankingSpace& space, const Rows& reader_vectors, std::size_t count,
                std::uint64_t seed) {
  Rows basis = make_prototypes(space, reader_vectors, count, seed);
  Rows some(std::min(readers_to_tune_by, reader_vectors.size()), reader_vectors.width);
  std::copy_n(reader_vectors.values.begin(), some.values.size(), some.values.begin());
  const Rows truth = space.readers(some);
  double best = -INFINITY, chosen = 1;
  for (const double scale : basis_scales) {
    const Rows told = space.readers(mixtures(some, basis, scale));
    double agreement = 0;
    for (std::size_t i = 0; i < told.size(); ++i) agreement += dot(told[i], truth[i]);
    if (agreement > best) best = agreement, chosen = scale;
  }
  for (float& value : basis.values) value = static_cast<float>(chosen * value);
  return basis;
}

Codebook make_codebook(const RankingSpace& space, const Rows& reader_vectors, std::size_t prototypes,
                       std::size_t basis, std::uint64_t seed) {
  Codebook book;
  if (prototypes > 0) book.prototypes = make_prototypes(space, reader_vectors, prototypes, seed);
  if (basis > 0) book.basis = make_basis(space, reader_vectors, basis, seed);
  book.average_user = mean_row(space.comparable(reader_vectors));
  return book;
}

}  // namespace sotto::publish
