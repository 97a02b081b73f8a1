#include "publish/ranking_space.h"

#include <gtest/gtest.h>

#include <cmath>

#include "publish/codebook.h"
#include "publish/normal_rows.h"

namespace sotto::publish {
namespace {

using testing::normal_rows;

std::vector<double> scores(std::span<const float> user, const Rows& items) {
  std::vector<double> result;
  for (std::size_t i = 0; i < items.size(); ++i) result.push_back(dot(user, items[i]));
  return result;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  double ma = 0, mb = 0, ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) ma += a[i] / n, mb += b[i] / n;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - ma) * (b[i] - mb);
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
  }
  return ab / std::sqrt(aa * bb);
}

TEST(RankingSpace, KeepsEveryReadersOrderOfItems) {
  const Rows items = normal_rows(60, 5, 1, 3), users = normal_rows(20, 5, 2);
  const auto space = RankingSpace::of_items(items).value();
  const Rows readers = space.readers(users);
  for (std::size_t u = 0; u < users.size(); ++u) {
    // The same up to a shift and a positive factor.
    EXPECT_NEAR(correlation(scores(users[u], items), scores(readers[u], space.items())), 1, 1e-5);
    EXPECT_NEAR(dot(readers[u], readers[u]), 1, 1e-5);
  }
}

TEST(RankingSpace, CosineOfReadersIsTheCorrelationOfTheirScores) {
  const Rows items = normal_rows(300, 5, 1, 3), users = normal_rows(10, 5, 2);
  const Rows readers = RankingSpace::of_items(items).value().readers(users);
  for (std::size_t u = 1; u < users.size(); ++u) {
    EXPECT_NEAR(cosine(readers[0], readers[u]), correlation(scores(users[0], items), scores(users[u], items)),
                1e-4);
  }
}

TEST(RankingSpace, ComparableVectorsSpreadTheirScoresByOneAndKeepTheirDirection) {
  const Rows items = normal_rows(300, 5, 1, 3);
  Rows users = normal_rows(10, 5, 2);
  std::fill(users[4].begin(), users[4].end(), 0.0F);
  const Rows comparable = RankingSpace::of_items(items).value().comparable(users);
  for (std::size_t u = 0; u < users.size(); ++u) {
    if (u == 4) {
      EXPECT_EQ(dot(comparable[u], comparable[u]), 0);
      continue;
    }
    const auto given = scores(comparable[u], items);
    double sum = 0, squares = 0;
    for (const double score : given) sum += score, squares += score * score;
    const auto n = static_cast<double>(given.size());
    EXPECT_NEAR(squares / n - sum / n * sum / n, 1, 1e-4);
    EXPECT_NEAR(cosine(comparable[u], users[u]), 1, 1e-6);
  }
}

TEST(RankingSpace, LeavesOutDirectionsInWhichItemsDoNotDiffer) {
  Rows items = normal_rows(50, 4, 1);
  for (std::size_t i = 0; i < items.size(); ++i) items[i][2] = 7;
  EXPECT_EQ(RankingSpace::of_items(items).value().dimension(), 3U);
}

TEST(RankingSpace, RefusesWhatCannotBeRanked) {
  EXPECT_FALSE(RankingSpace::of_items(Rows(1, 3)).has_value());
  EXPECT_FALSE(RankingSpace::of_items(Rows(5, 3)).has_value());  // all equal
  Rows items = normal_rows(50, 4, 1);
  items[3][1] = NAN;
  EXPECT_FALSE(RankingSpace::of_items(items).has_value());
}

TEST(KMeans, EveryPointHasTheNearestCentreAndCentresAreMeans) {
  const Rows points = normal_rows(200, 3, 5);
  const Clusters clusters = k_means(points, 7, ClusterShape::distance, 200, 2);  // until nothing moves
  const auto distance = [&](std::size_t i, std::size_t k) {
    double sum = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      const double apart = points[i][j] - clusters.centres[k][j];
      sum += apart * apart;
    }
    return sum;
  };
  Rows sums(7, 3);
  std::vector<float> counts(7);
  for (std::size_t i = 0; i < 200; ++i) {
    const std::size_t own = clusters.assignment[i];
    for (std::size_t k = 0; k < 7; ++k) EXPECT_LE(distance(i, own), distance(i, k) + 1e-4);
    for (std::size_t j = 0; j < 3; ++j) sums[own][j] += points[i][j];
    ++counts[own];
  }
  for (std::size_t k = 0; k < 7; ++k) {
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(sums[k][j] / counts[k], clusters.centres[k][j], 1e-3);
  }
}

TEST(KMeans, DirectionsHaveLengthOneAndMoreClustersThanPointsAreCut) {
  const Clusters clusters = k_means(normal_rows(10, 3, 6), 64, ClusterShape::direction, 3, 1);
  ASSERT_EQ(clusters.centres.size(), 10U);
  for (std::size_t k = 0; k < 10; ++k) EXPECT_NEAR(dot(clusters.centres[k], clusters.centres[k]), 1, 1e-5);
}

}  // namespace
}  // namespace sotto::publish
