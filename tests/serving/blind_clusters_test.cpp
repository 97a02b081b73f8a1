#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/distributions.h"
#include "base/thread_pool.h"
#include "blind/shape.h"
#include "serving/blind/clusters.h"
#include "serving/blind_fixture.h"

namespace sotto::serving {
namespace {

using testing::must;

constexpr std::uint32_t dimension = 16;

// Items of forty topics, of different lengths.
std::vector<float> topical_items(std::size_t count) {
  SeededRandom random(3, Purpose::test);
  std::vector<float> topics(40 * dimension), items;
  for (float& number : topics) number = static_cast<float>(normal(random));
  for (std::size_t item = 0; item < count; ++item) {
    const float* topic = topics.data() + uniform_below(random, 40) * dimension;
    const auto length = static_cast<float>(std::exp(0.3 * normal(random)));
    for (std::size_t i = 0; i < dimension; ++i)
      items.push_back(length * (topic[i] + static_cast<float>(normal(random))));
  }
  return items;
}

float product(const float* a, const float* b) { return std::inner_product(a, a + dimension, b, 0.0F); }

class BlindClusters : public ::testing::Test {
 protected:
  static constexpr std::size_t items = 6000;
  const std::vector<float> vectors = topical_items(items);
  const blind::Shape shape{dimension, 128, 500, 1};
  const Clusters made = must(make_clusters(vectors, shape));
};

TEST_F(BlindClusters, EveryItemHasAHomeAndNoneStandsTwiceInOneCluster) {
  std::vector<int> times(items);
  ASSERT_EQ(made.items_of.size(), shape.clusters);
  for (const auto& inside : made.items_of) {
    EXPECT_EQ(inside.size(), shape.rows);  // no room is wasted
    EXPECT_TRUE(std::is_sorted(inside.begin(), inside.end()));
    EXPECT_EQ(std::adjacent_find(inside.begin(), inside.end()), inside.end());
    for (const std::uint32_t item : inside) ++times.at(item);
  }
  EXPECT_EQ(std::count(times.begin(), times.end(), 0), 0);
}

TEST_F(BlindClusters, ATasteFindsItsTrueBestItemsInItsCluster) {
  for (std::size_t c = 0; c < shape.clusters; ++c) {
    const float* taste = made.tastes.data() + c * dimension;
    std::vector<std::uint32_t> best(items);
    std::iota(best.begin(), best.end(), 0U);
    std::partial_sort(best.begin(), best.begin() + 100, best.end(), [&](std::uint32_t a, std::uint32_t b) {
      return product(taste, vectors.data() + a * dimension) > product(taste, vectors.data() + b * dimension);
    });
    for (std::size_t i = 0; i < 100; ++i)
      EXPECT_TRUE(std::binary_search(made.items_of[c].begin(), made.items_of[c].end(), best[i]));
  }
}

// What parts of the catalogue, each item in one of them, cannot do: a reader's best items are of all topics.
TEST_F(BlindClusters, OneClusterOfATwelfthHoldsMostOfWhatAReaderLikesBest) {
  SeededRandom random(9, Purpose::test);
  double reached = 0, possible = 0;
  for (int reader = 0; reader < 100; ++reader) {
    std::vector<float> user(dimension);
    for (int click = 0; click < 6; ++click) {
      const float* item = vectors.data() + uniform_below(random, items) * dimension;
      for (std::size_t i = 0; i < dimension; ++i) user[i] += item[i];
    }
    std::vector<float> scores(items), inside;
    for (std::size_t item = 0; item < items; ++item)
      scores[item] = product(user.data(), vectors.data() + item * dimension);
    std::size_t asked = 0;
    for (std::size_t c = 1; c < shape.clusters; ++c)
      if (product(user.data(), made.centroids.data() + c * dimension) >
          product(user.data(), made.centroids.data() + asked * dimension))
        asked = c;
    for (const std::uint32_t item : made.items_of[asked]) inside.push_back(scores[item]);
    const auto best_ten = [](std::vector<float> of) {
      std::partial_sort(of.begin(), of.begin() + 10, of.end(), std::greater<>());
      return std::accumulate(of.begin(), of.begin() + 10, 0.0);
    };
    reached += best_ten(inside);
    possible += best_ten(scores);
  }
  EXPECT_GT(reached / possible, 0.97);
}

TEST_F(BlindClusters, DoNotDependOnThreads) {
  const int before = thread_count();
  set_thread_count(1);
  const Clusters alone = must(make_clusters(vectors, shape));
  set_thread_count(3);
  const Clusters together = must(make_clusters(vectors, shape));
  set_thread_count(before);
  EXPECT_EQ(alone.items_of, together.items_of);
  EXPECT_EQ(alone.centroids, together.centroids);
}

TEST(BlindClustersOfFewItems, AreWholeWhateverTheItemsAre) {
  // One cluster; more clusters than items; items that are all alike; items of zeros.
  for (const float value : {0.0F, 1.0F}) {
    for (const blind::Shape& shape :
         {blind::Shape{2, 1, 5, 1}, blind::Shape{2, 9, 1, 1}, blind::Shape{2, 3, 4, 1}}) {
      const std::vector<float> vectors(10, value);
      const Clusters made = must(make_clusters(vectors, shape));
      std::set<std::uint32_t> seen;
      for (const auto& inside : made.items_of) {
        EXPECT_LE(inside.size(), shape.rows);
        seen.insert(inside.begin(), inside.end());
      }
      EXPECT_EQ(seen.size(), 5U);
    }
  }
  EXPECT_FALSE(make_clusters(std::vector<float>(10), {2, 2, 2, 1}));
}

}  // namespace
}  // namespace sotto::serving
