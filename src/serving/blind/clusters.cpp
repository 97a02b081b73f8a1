#include "serving/blind/clusters.h"

#include <Eigen/Core>
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/distributions.h"
#include "base/thread_pool.h"

namespace sotto::serving {

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMatrix = Eigen::Map<const Matrix>;

constexpr std::uint64_t cluster_seed = 20240229;
constexpr std::size_t sample_per_cluster = 48;
constexpr int rounds = 10;
constexpr Eigen::Index rows_at_once = 512;
constexpr std::size_t choices = 16;  // homes an item is tried with before any that has room

// Histories from which tastes are made.
constexpr std::size_t histories_per_taste = 32;
constexpr std::uint64_t most_interests = 8;
constexpr std::uint64_t most_clicks = 32;
constexpr double stray_clicks = 0.2;  // share of clicks on anything

// Items by which a centroid is placed, so that it tells what a reader would be shown. Where there is but one
// cluster nothing is chosen by it, and the mean of all leaves least to round.
constexpr std::size_t best_of_taste = 64;
constexpr std::size_t tastes_at_once = 8;
constexpr std::size_t threshold_sample = 16'384;

// The `width` columns of products with `centres`, less `offsets`, that are largest for every vector, largest
// first, and how large.
struct Preferences {
  std::vector<std::uint32_t> cluster;
  std::vector<float> near;
  std::size_t width = 0;
};

Matrix nearness(const ConstMatrix& vectors, Eigen::Index first, Eigen::Index count, const Matrix& centres,
                const Eigen::VectorXf& offsets) {
  Matrix products = vectors.middleRows(first, count) * centres.transpose();
  products.rowwise() -= offsets.transpose();
  return products;
}

Preferences preferences(const ConstMatrix& vectors, const Matrix& centres, const Eigen::VectorXf& offsets,
                        std::size_t width) {
  Preferences found;
  const auto clusters = static_cast<std::size_t>(centres.rows());
  found.width = std::min(width, clusters);
  const auto items = static_cast<std::size_t>(vectors.rows());
  found.cluster.resize(items * found.width);
  found.near.resize(items * found.width);
  const auto blocks = (vectors.rows() + rows_at_once - 1) / rows_at_once;
  parallel_for(static_cast<std::size_t>(blocks), 1, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> order(clusters);
    for (std::size_t block = begin; block < end; ++block) {
      const Eigen::Index first = static_cast<Eigen::Index>(block) * rows_at_once;
      const Eigen::Index count = std::min(rows_at_once, vectors.rows() - first);
      const Matrix near = nearness(vectors, first, count, centres, offsets);
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

ConstMatrix view(const Matrix& matrix) { return {matrix.data(), matrix.rows(), matrix.cols()}; }

// Of length 1; a row of zeros becomes the first direction.
void make_directions(Matrix& rows) {
  for (Eigen::Index row = 0; row < rows.rows(); ++row) {
    const float length = rows.row(row).norm();
    if (length > 0 && std::isfinite(length)) {
      rows.row(row) /= length;
    } else {
      rows.row(row).setZero();
      rows(row, 0) = 1;
    }
  }
}

// The group of every row, by k-means.
std::vector<std::uint32_t> groups_of(const ConstMatrix& rows, Eigen::Index groups) {
  Matrix centres(groups, rows.cols());
  for (Eigen::Index c = 0; c < groups; ++c) centres.row(c) = rows.row(c % rows.rows());
  std::vector<std::uint32_t> group_of;
  for (int round = 0; round < rounds; ++round) {
    group_of = preferences(rows, centres, 0.5F * centres.rowwise().squaredNorm(), 1).cluster;
    centres = means(rows, group_of, groups);
  }
  return group_of;
}

// Directions of readers who do not exist: means of clicks, most of them on items of a few groups.
Matrix simulated_tastes(const ConstMatrix& items, Eigen::Index groups, std::size_t count) {
  const auto group_of = groups_of(items, groups);
  std::vector<std::vector<Eigen::Index>> members(static_cast<std::size_t>(groups));
  for (Eigen::Index row = 0; row < items.rows(); ++row)
    members[group_of[static_cast<std::size_t>(row)]].push_back(row);
  std::erase_if(members, [](const auto& group) { return group.empty(); });
  Matrix tastes = Matrix::Zero(static_cast<Eigen::Index>(count), items.cols());
  for (std::size_t reader = 0; reader < count; ++reader) {
    SeededRandom random(cluster_seed, Purpose::initialisation, 1, reader);
    std::vector<std::size_t> interests(1 + uniform_below(random, most_interests));
    for (std::size_t& interest : interests) interest = uniform_below(random, members.size());
    const std::uint64_t clicks = 1 + uniform_below(random, most_clicks);
    for (std::uint64_t click = 0; click < clicks; ++click) {
      const auto& group = members[interests[uniform_below(random, interests.size())]];
      const Eigen::Index item =
          bernoulli(random, stray_clicks)
              ? static_cast<Eigen::Index>(uniform_below(random, static_cast<std::uint64_t>(items.rows())))
              : group[uniform_below(random, group.size())];
      tastes.row(static_cast<Eigen::Index>(reader)) += items.row(item);
    }
  }
  make_directions(tastes);
  return tastes;
}

// So many directions that every simulated reader has one that is near.
Matrix make_tastes(const ConstMatrix& vectors, Eigen::Index clusters) {
  const auto count = static_cast<std::size_t>(clusters);
  const Matrix sample = sample_of(vectors, sample_per_cluster * count);
  const Matrix readers = simulated_tastes(view(sample), clusters, histories_per_taste * count);
  const Eigen::VectorXf none = Eigen::VectorXf::Zero(clusters);
  Matrix tastes = readers.topRows(clusters);
  for (int round = 0; round < rounds; ++round) {
    tastes = means(view(readers), preferences(view(readers), tastes, none, 1).cluster, clusters);
    make_directions(tastes);
  }
  return tastes;
}

// By taste: the score above which about `share` of all items lie, by a sample of them.
Eigen::VectorXf thresholds(const ConstMatrix& vectors, const Matrix& tastes, double share) {
  const Matrix sample = sample_of(vectors, threshold_sample);
  Matrix scores = tastes * sample.transpose();
  Eigen::VectorXf above(tastes.rows());
  const auto all = static_cast<std::size_t>(sample.rows());
  const auto place = std::min(all - 1, static_cast<std::size_t>(share * static_cast<double>(all)));
  for (Eigen::Index taste = 0; taste < tastes.rows(); ++taste) {
    float* of_taste = scores.row(taste).data();
    std::nth_element(of_taste, of_taste + place, of_taste + all, std::greater<>());
    above[taste] = of_taste[place];
  }
  return above;
}

// One cluster per item, the first of its choices that has room. Those that gain most by their first choice
// choose first.
std::vector<std::uint32_t> homes(const Preferences& wanted, const ConstMatrix& vectors, const Matrix& tastes,
                                 const Eigen::VectorXf& offsets, std::size_t room) {
  const auto items = static_cast<std::size_t>(vectors.rows());
  std::vector<std::uint32_t> order(items), cluster_of(items);
  std::iota(order.begin(), order.end(), 0U);
  const auto urgency = [&](std::uint32_t item) {
    const float* near = wanted.near.data() + item * wanted.width;
    return near[0] - near[std::min<std::size_t>(1, wanted.width - 1)];
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return urgency(a) > urgency(b); });
  std::vector<std::size_t> taken(static_cast<std::size_t>(tastes.rows()));
  for (const std::uint32_t item : order) {
    const std::uint32_t* first = wanted.cluster.data() + item * wanted.width;
    const std::uint32_t* chosen =
        std::find_if(first, first + wanted.width, [&](std::uint32_t c) { return taken[c] < room; });
    std::uint32_t cluster = 0;
    if (chosen != first + wanted.width) {
      cluster = *chosen;
    } else {
      const Matrix near = nearness(vectors, item, 1, tastes, offsets);
      float best = -std::numeric_limits<float>::infinity();
      for (std::uint32_t c = 0; c < taken.size(); ++c) {
        if (taken[c] >= room || !(near(0, c) > best)) continue;
        best = near(0, c);
        cluster = c;
      }
    }
    cluster_of[item] = cluster;
    ++taken[cluster];
  }
  return cluster_of;
}

// Keeps the `count` best of `items`, in no order.
void keep_best(std::vector<std::uint32_t>& items, std::size_t count, const float* scores) {
  if (items.size() <= count) return;
  std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count), items.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
                   });
  items.resize(count);
}

// What room is left goes to the items that the taste likes best and that do not live here. above: where to
// look first.
std::vector<std::uint32_t> with_best(std::vector<std::uint32_t> residents, std::size_t room, float above,
                                     std::span<const float> scores) {
  std::vector<std::uint32_t> guests;
  const auto look = [&](float least) {
    guests.clear();
    for (std::uint32_t item = 0, next = 0; item < scores.size(); ++item) {
      const bool lives_here = next < residents.size() && residents[next] == item;
      if (lives_here) ++next;
      if (!lives_here && scores[item] >= least) guests.push_back(item);
    }
  };
  const std::size_t wanted = std::min(room, scores.size()) - residents.size();
  look(above);
  if (guests.size() < wanted) look(-std::numeric_limits<float>::infinity());
  keep_best(guests, wanted, scores.data());
  residents.insert(residents.end(), guests.begin(), guests.end());
  std::sort(residents.begin(), residents.end());
  return residents;
}

}  // namespace

Result<Clusters> make_clusters(std::span<const float> vectors, const blind::Shape& shape) {
  SOTTO_CHECK(check(shape));
  const std::size_t items = vectors.size() / shape.dimension;
  if (items == 0 || vectors.size() % shape.dimension != 0 || items > shape.slots())
    return bad_input("{} numbers are not 1 to {} vectors of {}", vectors.size(), shape.slots(),
                     shape.dimension);
  const ConstMatrix rows(vectors.data(), static_cast<Eigen::Index>(items), shape.dimension);
  const Matrix tastes = make_tastes(rows, shape.clusters);
  const double share = static_cast<double>(shape.rows) / static_cast<double>(items);
  // How far an item is from being wanted by a taste, not how much: else all would live with a few.
  const Eigen::VectorXf wanted_from = thresholds(rows, tastes, share);
  const std::size_t even = (items + shape.clusters - 1) / shape.clusters;
  const std::size_t room = std::min<std::size_t>(shape.rows, even + even / 4);
  const auto home_of =
      homes(preferences(rows, tastes, wanted_from, choices), rows, tastes, wanted_from, room);
  const Eigen::VectorXf look_from = thresholds(rows, tastes, 1.5 * share);

  Clusters made{{tastes.data(), tastes.data() + tastes.size()},
                std::vector<float>(shape.columns()),
                std::vector<std::vector<std::uint32_t>>(shape.clusters)};
  for (std::uint32_t item = 0; item < items; ++item) made.items_of[home_of[item]].push_back(item);
  parallel_for(
      (shape.clusters + tastes_at_once - 1) / tastes_at_once, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t block = begin; block < end; ++block) {
          const std::size_t first = block * tastes_at_once;
          const auto count = static_cast<Eigen::Index>(std::min(tastes_at_once, shape.clusters - first));
          const Matrix scores = tastes.middleRows(static_cast<Eigen::Index>(first), count) * rows.transpose();
          for (Eigen::Index i = 0; i < count; ++i) {
            const std::size_t cluster = first + static_cast<std::size_t>(i);
            const std::span<const float> of_taste(scores.row(i).data(), items);
            auto& inside = made.items_of[cluster];
            inside = with_best(std::move(inside), shape.rows, look_from[static_cast<Eigen::Index>(cluster)],
                               of_taste);
            std::vector<std::uint32_t> best = inside;
            if (shape.clusters > 1) keep_best(best, best_of_taste, of_taste.data());
            Eigen::VectorXd sum = Eigen::VectorXd::Zero(rows.cols());
            std::sort(best.begin(), best.end());
            for (const std::uint32_t item : best) sum += rows.row(item).transpose().cast<double>();
            for (Eigen::Index d = 0; d < rows.cols(); ++d)
              made.centroids[cluster * shape.dimension + static_cast<std::size_t>(d)] =
                  static_cast<float>(sum[d] / static_cast<double>(best.size()));
          }
        }
      });
  return made;
}

}  // namespace sotto::serving
