// Updates, removals and merges never change what an answer is: that of scoring every live row.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <thread>

#include "index_fixture.h"

namespace sotto::serving {
namespace {

using namespace index_test;

void expect_exact(const LiveIndex& index, const PlainRows& rows, RandomSource& random) {
  ASSERT_EQ(index.size(), rows.size());
  for (int query = 0; query < 3; ++query) {
    const auto weights = random_mixture(index.dimension(), random);
    ASSERT_EQ(index.search(weights, 20).value(), brute_force(rows, weights, 20));
  }
}

TEST(LiveIndexUpdates, AnswersStayExactThroughAnyMixOfChanges) {
  constexpr std::size_t dimension = 5;
  SeededRandom random(1, Purpose::test);
  PlainRows rows = normal_rows(3000, dimension, 4);
  const auto index = index_of(rows, dimension, FirstLook::codes);
  for (int step = 0; step < 120; ++step) {
    IndexUpdate update;
    update.rows.dimension = dimension;
    const std::size_t changes = step % 10 == 0 ? 1500 : uniform_below(random, 120);
    PlainRows put;
    for (std::size_t i = 0; i < changes; ++i) {
      const auto item = static_cast<ItemNumber>(uniform_below(random, 12'000));
      if (bernoulli(random, 0.4)) {
        update.removals.push_back(item);
        rows.erase(item);
      } else {
        put[item] = normal_rows(1, dimension, random()).begin()->second;
      }
    }
    for (const auto& [item, row] : put) {
      rows[item] = row;
      update.rows.add(item, row.tag, row.values);
    }
    ASSERT_TRUE(index->update(update));
    if (step % 7 == 0) {
      while (index->merge_once()) {
      }
    }
    expect_exact(*index, rows, random);
  }
}

TEST(LiveIndexUpdates, RemovingEverythingLeavesNothing) {
  PlainRows rows = normal_rows(5000, 2, 5);
  const auto index = index_of(rows, 2);
  IndexUpdate all;
  for (const auto& [item, row] : rows) all.removals.push_back(item);
  ASSERT_TRUE(index->update(all));
  EXPECT_EQ(index->size(), 0U);
  EXPECT_TRUE(index->search(std::vector<float>{1, 0}, 5).value().empty());
  while (index->merge_once()) {
  }
  EXPECT_EQ(index->segments(), 0U) << "the dead segment is gone";
}

TEST(LiveIndexUpdates, MergingKeepsTheNumberOfSegmentsSmall) {
  const auto index = LiveIndex::create(2, LiveIndex::Merging::when_asked).value();
  const auto rows = normal_rows(40'000, 2, 6);
  for (const auto& [item, row] : rows) {
    IndexUpdate one;
    one.rows.dimension = 2;
    one.rows.add(item, row.tag, row.values);
    ASSERT_TRUE(index->update(one));
    while (index->merge_once()) {
    }
  }
  EXPECT_LE(index->segments(), 12U);
  SeededRandom random(3, Purpose::test);
  expect_exact(*index, rows, random);
}

TEST(LiveIndexUpdates, HoldsAtMostFortyBytesPerItemInFiveDimensions) {
  const auto rows = normal_rows(100'000, 5, 7);
  EXPECT_LE(index_of(rows, 5)->bytes(), 40U * 100'000);
  // With codes, numbers and tags (12 bytes) not counted.
  EXPECT_LE(index_of(rows, 5, FirstLook::codes)->bytes(), 52U * 100'000);
}

// Rows come in pairs that are put and removed in one update each: a search must see both or neither, and
// exactly the rows that never change. Run under ThreadSanitizer too.
TEST(LiveIndexThreads, SearchesSeeWholeUpdatesWhileSegmentsAreMerged) {
  constexpr ItemNumber pairs = 40'000;
  const auto index = LiveIndex::create(2).value();
  RowBatch fixed{2, {}, {}, {}};
  for (ItemNumber item = 0; item < 3; ++item) {
    fixed.add(2 * pairs + item, {}, std::vector<float>{100.0F + static_cast<float>(item), 0});
  }
  ASSERT_TRUE(index->update({{}, fixed}));
  std::atomic<bool> done{false};
  std::atomic<int> torn{0}, wrong{0}, searches{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      while (!done) {
        const auto found = index->search(std::vector<float>{1, 0.001F}, 500).value();
        if (found.size() < 3 || found[0].item != 2 * pairs + 2 || found[2].item != 2 * pairs) ++wrong;
        std::map<ItemNumber, int> seen;
        for (std::size_t i = 3; i < found.size(); ++i) ++seen[found[i].item / 2];
        for (const auto& [pair, count] : seen) torn += count != 2 ? 1 : 0;
        ++searches;
      }
    });
  }
  for (ItemNumber pair = 0; pair < pairs && (pair < pairs / 20 || searches < 50); ++pair) {
    IndexUpdate update;
    update.rows.dimension = 2;
    const auto score = static_cast<float>(pair % 97);
    update.rows.add(2 * pair, {}, std::vector<float>{score, 1});
    update.rows.add(2 * pair + 1, {}, std::vector<float>{score, 2});
    if (pair >= 200) update.removals = {2 * (pair - 200), 2 * (pair - 200) + 1};
    ASSERT_TRUE(index->update(update));
  }
  done = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(index->size(), 403U);
}

}  // namespace
}  // namespace sotto::serving
