// The searches over full vectors behind the common interface.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "bench/full_vectors/exhaustive_index.h"
#include "serving/index_fixture.h"
#ifdef SOTTO_HAVE_FAISS
#include "bench/full_vectors/faiss_index.h"
#endif
#ifdef SOTTO_HAVE_HNSWLIB
#include "bench/full_vectors/hnswlib_index.h"
#endif

namespace sotto::bench {
namespace {

using namespace serving;
using namespace serving::index_test;
using ::testing::HasSubstr;

constexpr std::size_t dimension = 37;

std::set<ItemNumber> items_of(const std::vector<ScoredItem>& answer) {
  std::set<ItemNumber> items;
  for (const ScoredItem& scored : answer) items.insert(scored.item);
  return items;
}

// The share of the true best 10 that an index finds, over several queries.
double recall(const ItemIndex& index, const PlainRows& rows) {
  SeededRandom random(5, Purpose::test);
  double hits = 0;
  for (int query = 0; query < 20; ++query) {
    const auto weights = random_mixture(dimension, random);
    const auto truth = items_of(brute_force(rows, weights, 10));
    for (const ItemNumber item : items_of(index.search(weights, 10, {}).value()))
      hits += truth.count(item) / 10.0;
    EXPECT_EQ(index.search_batch(weights, 10, {}).value().at(0), index.search(weights, 10, {}).value());
  }
  return hits / 20;
}

void expect_refusals(const ItemIndex& index) {
  EXPECT_THAT(index.search(std::vector<float>(3), 1, {}).error().message, HasSubstr("3 numbers"));
  EXPECT_THAT(index.search(std::vector<float>(dimension), 0, {}).error().message, HasSubstr("ask for 1"));
  EXPECT_THAT(index.search(std::vector<float>(dimension), 1, {{1}, {}, 0}).error().message,
              HasSubstr("filter"));
}

TEST(FullVectors, AnExhaustiveScanFindsTheBest) {
  const auto rows = normal_rows(2000, dimension, 1);
  const auto index = ExhaustiveIndex::create(dimension).value();
  ASSERT_TRUE(index->add(batch_of(rows, dimension)));
  EXPECT_GT(recall(*index, rows), 0.99);
  expect_refusals(*index);
}

#ifdef SOTTO_HAVE_FAISS
TEST(FullVectors, FaissFindsTheBest) {
  const auto rows = normal_rows(2000, dimension, 2);
  const auto flat = FaissIndex::create(dimension).value();
  ASSERT_TRUE(flat->add(batch_of(rows, dimension)));
  EXPECT_GT(recall(*flat, rows), 0.99);
  expect_refusals(*flat);
}
#endif

#ifdef SOTTO_HAVE_HNSWLIB
TEST(FullVectors, HnswlibFindsNearlyAll) {
  const auto rows = normal_rows(2000, dimension, 3);
  const auto graph = HnswlibIndex::create(batch_of(rows, dimension), 16, 100).value();
  graph->set_effort(300);
  EXPECT_GT(recall(*graph, rows), 0.9);
  expect_refusals(*graph);
}
#endif

}  // namespace
}  // namespace sotto::bench
