#include "serving/blind/clusters.h"

#include <Eigen/Core>
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "base/thread_pool.h"

namespace sotto::serving {

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMatrix = Eigen::Map<const Matrix>;

constexpr std::uint64_t cluster_seed = 20240229;
constexpr std::size_t sample_per_cluster = 48;
constexpr int rounds = 10;
constexpr Eigen::Index rows_at_once = 512;
constexpr std::size_t choices = 16;  // centroids an item is tried with before any that has room

// -|v - c|² but for |v|²: greater is nearer.
Matrix nearness(const ConstMatrix& vectors, Eigen::Index first, Eigen::Index count, const Matrix& centroids,
                const Eigen::VectorXf& half_squares) {
  Matrix products = vectors.middleRows(first, count) * centroids.transpose();
  products.rowwise() -= half_squares.transpose();
  return products;
}

Eigen::VectorXf half_squares_of(const Matrix& centroids) { return 0.5F * centroids.rowwise().squaredNorm(); }

// The nearest `choices` centroids of every vector, nearest first, and how near.
struct Preferences {
  std::vector<std::uint32_t> cluster;
  std::vector<float> near;
  std::size_t width = 0;
};

Preferences preferences(const ConstMatrix& vectors, const Matrix& centroids, std::size_t width) {
  Preferences found;
  const auto clusters = static_cast<std::size_t>(centroids.rows());
  found.width = std::min(width, clusters);
  const auto items = static_cast<std::size_t>(vectors.rows());
  found.cluster.resize(items * found.width);
  found.near.resize(items * found.width);
  const Eigen::VectorXf half_squares = half_squares_of(centroids);
  const auto blocks = (vectors.rows() + rows_at_once - 1) / rows_at_once;
  parallel_for(static_cast<std::size_t>(blocks), 1, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> order(clusters);
    for (std::size_t block = begin; block < end; ++block) {
      const Eigen::Index first = static_cast<Eigen::Index>(block) * rows_at_once;
      const Eigen::Index count = std::min(rows_at_once, vectors.rows() - first);
      const Matrix near = nearness(vectors, first, count, centroids, half_squares);
      for (Eigen::Index row = 0; row < count; ++row) {
        const float* of_row = near.row(row).data();
        std::iota(order.begin(), order.end(), 0U);
        const auto nearer = [&](std::uint32_t a, std::uint32_t b) {
          return of_row[a] != of_row[b] ? of_row[a] > of_row[b] : a < b;
        };
        const auto kept = order.begin() + static_cast<std::ptrdiff_t>(found.width);
        if (found.width == 1) {
          order[0] = static_cast<std::uint32_t>(std::max_element(of_row, of_row + clusters) - of_row);
        } else {
          std::partial_sort(order.begin(), kept, order.end(), nearer);
        }
        const std::size_t at = static_cast<std::size_t>(first + row) * found.width;
        for (std::size_t i = 0; i < found.width; ++i) {
          found.cluster[at + i] = order[i];
          found.near[at + i] = of_row[order[i]];
        }
      }
    }
  });
  return found;
}

// Means of the rows of every cluster; one without rows takes the row at its own position, scaled over all.
Matrix means(const ConstMatrix& vectors, std::span<const std::uint32_t> cluster_of, Eigen::Index clusters) {
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(clusters, vectors.cols());
  std::vector<std::size_t> counts(static_cast<std::size_t>(clusters));
  for (Eigen::Index row = 0; row < vectors.rows(); ++row) {
    const std::uint32_t cluster = cluster_of[static_cast<std::size_t>(row)];
    sums.row(cluster) += vectors.row(row).cast<double>();
    ++counts[cluster];
  }
  Matrix result(clusters, vectors.cols());
  for (Eigen::Index cluster = 0; cluster < clusters; ++cluster) {
    const auto count = counts[static_cast<std::size_t>(cluster)];
    if (count == 0) {
      result.row(cluster) = vectors.row(cluster * vectors.rows() / clusters);
    } else {
      result.row(cluster) = (sums.row(cluster) / static_cast<double>(count)).cast<float>();
    }
  }
  return result;
}

Matrix sample_of(const ConstMatrix& vectors, std::size_t wanted) {
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(vectors.rows()));
  std::iota(rows.begin(), rows.end(), 0U);
  SeededRandom random(cluster_seed, Purpose::initialisation);
  const std::size_t count = std::min(wanted, rows.size());
  for (std::size_t i = 0; i < count; ++i) std::swap(rows[i], rows[i + random() % (rows.size() - i)]);
  Matrix sample(static_cast<Eigen::Index>(count), vectors.cols());
  for (std::size_t i = 0; i < count; ++i) sample.row(static_cast<Eigen::Index>(i)) = vectors.row(rows[i]);
  return sample;
}

Matrix train(const ConstMatrix& vectors, Eigen::Index clusters) {
  const Matrix sample = sample_of(vectors, sample_per_cluster * static_cast<std::size_t>(clusters));
  const ConstMatrix rows(sample.data(), sample.rows(), sample.cols());
  Matrix centroids(clusters, sample.cols());
  for (Eigen::Index c = 0; c < clusters; ++c) centroids.row(c) = sample.row(c % sample.rows());
  for (int round = 0; round < rounds; ++round)
    centroids = means(rows, preferences(rows, centroids, 1).cluster, clusters);
  return centroids;
}

// Those that gain most by their first choice choose first.
std::vector<std::uint32_t> assign(const Preferences& wanted, const ConstMatrix& vectors,
                                  const Matrix& centroids, std::size_t rows) {
  const auto items = static_cast<std::size_t>(vectors.rows());
  std::vector<std::uint32_t> order(items), cluster_of(items);
  std::iota(order.begin(), order.end(), 0U);
  const auto urgency = [&](std::uint32_t item) {
    const float* near = wanted.near.data() + item * wanted.width;
    return near[0] - near[std::min<std::size_t>(1, wanted.width - 1)];
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return urgency(a) > urgency(b); });
  std::vector<std::size_t> taken(static_cast<std::size_t>(centroids.rows()));
  const Eigen::VectorXf half_squares = half_squares_of(centroids);
  for (const std::uint32_t item : order) {
    const std::uint32_t* first = wanted.cluster.data() + item * wanted.width;
    const std::uint32_t* chosen =
        std::find_if(first, first + wanted.width, [&](std::uint32_t c) { return taken[c] < rows; });
    std::uint32_t cluster = 0;
    if (chosen != first + wanted.width) {
      cluster = *chosen;
    } else {
      const Matrix near = nearness(vectors, item, 1, centroids, half_squares);
      float best = -std::numeric_limits<float>::infinity();
      for (std::uint32_t c = 0; c < taken.size(); ++c) {
        if (taken[c] >= rows || !(near(0, c) > best)) continue;
        best = near(0, c);
        cluster = c;
      }
    }
    cluster_of[item] = cluster;
    ++taken[cluster];
  }
  return cluster_of;
}

}  // namespace

Result<Clusters> make_clusters(std::span<const float> vectors, const blind::Shape& shape) {
  SOTTO_CHECK(check(shape));
  const std::size_t items = vectors.size() / shape.dimension;
  if (items == 0 || vectors.size() % shape.dimension != 0 || items > shape.slots())
    return bad_input("{} numbers are not 1 to {} vectors of {}", vectors.size(), shape.slots(),
                     shape.dimension);
  const ConstMatrix rows(vectors.data(), static_cast<Eigen::Index>(items), shape.dimension);
  const Matrix trained = train(rows, shape.clusters);
  const auto cluster_of = assign(preferences(rows, trained, choices), rows, trained, shape.rows);
  const Matrix centroids = means(rows, cluster_of, shape.clusters);
  Clusters made{{centroids.data(), centroids.data() + centroids.size()}, std::vector<std::uint32_t>(items)};
  std::vector<std::uint32_t> taken(shape.clusters);
  for (std::size_t item = 0; item < items; ++item)
    made.slot_of[item] = cluster_of[item] * shape.rows + taken[cluster_of[item]]++;
  return made;
}

}  // namespace sotto::serving
