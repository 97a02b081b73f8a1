// Lists of prototypes are the beginning of the true ranking through every update.

#include "serving/prototypes/prototype_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "index_fixture.h"

namespace sotto::serving {
namespace {

using namespace index_test;
using ::testing::HasSubstr;

constexpr std::size_t prototypes = 6;

std::unique_ptr<PrototypeIndex> create(std::size_t list_length) {
  return PrototypeIndex::create(prototypes, list_length, LiveIndex::Merging::when_asked).value();
}

// The best of several prototypes, by scoring every row.
std::vector<ScoredItem> brute_force_best(const PlainRows& rows, const std::vector<std::uint32_t>& chosen,
                                         std::uint32_t k, const ItemFilter& filter = {}) {
  PlainRows best;
  for (const auto& [item, row] : rows) {
    float score = row.values[chosen.front()];
    for (const std::uint32_t prototype : chosen) score = std::max(score, row.values[prototype]);
    best[item] = {row.tag, {score}};
  }
  return brute_force(best, std::vector<float>{1}, k, filter);
}

void expect_exact(const PrototypeIndex& index, const PlainRows& rows) {
  for (std::uint32_t prototype = 0; prototype < prototypes; ++prototype) {
    for (const std::uint32_t k : {1U, 10U, 60U}) {
      ASSERT_EQ(index.best_of({{prototype}}, k).value(), brute_force_best(rows, {prototype}, k));
    }
    const ItemFilter filter{{1}, {}, 300};
    ASSERT_EQ(index.best_of({{prototype}}, 10, filter).value(),
              brute_force_best(rows, {prototype}, 10, filter));
  }
  ASSERT_EQ(index.best_of(std::vector<std::uint32_t>{0, 3, 5}, 20).value(),
            brute_force_best(rows, {0, 3, 5}, 20));
}

TEST(PrototypeIndex, ListsStayExactThroughIngestionRemovalAndExhaustion) {
  SeededRandom random(1, Purpose::test);
  const auto index = create(40);
  PlainRows rows;
  for (int step = 0; step < 150; ++step) {
    // Grows, then shrinks to nothing: lists begin short, are cut, wear down and are filled again.
    const double removing = step < 60 ? 0.2 : 0.8;
    IndexUpdate update;
    update.rows.dimension = prototypes;
    PlainRows put;
    for (int change = 0; change < 12; ++change) {
      if (bernoulli(random, removing) && !rows.empty()) {
        // Often the best of a list, which is what wears it down.
        const auto item =
            bernoulli(random, 0.7) ? brute_force_best(rows, {2}, 1)[0].item : rows.begin()->first;
        update.removals.push_back(item);
        rows.erase(item);
      } else {
        const auto item = static_cast<ItemNumber>(uniform_below(random, 3000));
        put[item] = normal_rows(1, prototypes, random()).begin()->second;
      }
    }
    for (const auto& [item, row] : put) {
      rows[item] = row;
      update.rows.add(item, row.tag, row.values);
    }
    ASSERT_TRUE(index->update(update));
    expect_exact(*index, rows);
  }
}

TEST(PrototypeIndex, BulkUpdatesAreExactToo) {
  const auto index = create(64);
  PlainRows rows = normal_rows(5000, prototypes, 2);
  ASSERT_TRUE(index->update({{}, batch_of(rows, prototypes)}));
  expect_exact(*index, rows);
  IndexUpdate half;
  for (ItemNumber item = 1; item < 7500; item += 3) {
    half.removals.push_back(item);
    rows.erase(item);
  }
  ASSERT_TRUE(index->update(half));
  expect_exact(*index, rows);
}

TEST(PrototypeIndex, AnIndicatorNamesThePrototypes) {
  const auto index = create(64);
  const PlainRows rows = normal_rows(300, prototypes, 3);
  ASSERT_TRUE(index->update({{}, batch_of(rows, prototypes)}));
  const std::vector<float> indicator{0, 1, 0, 0, 1, 0};
  EXPECT_EQ(index->search(indicator, 9).value(), brute_force_best(rows, {1, 4}, 9));
  EXPECT_EQ(index->search_batch(indicator, 9).value().at(0), index->search(indicator, 9).value());
}

TEST(PrototypeIndex, TellsWhatIsWrongWithAQuery) {
  const auto index = create(64);
  EXPECT_THAT(index->best_of({{6}}, 1).error().message, HasSubstr("prototype 6"));
  EXPECT_THAT(index->best_of({}, 1).error().message, HasSubstr("no prototype"));
  EXPECT_THAT(index->best_of({{0}}, 0).error().message, HasSubstr("ask for 1 to"));
  EXPECT_THAT(index->search(std::vector<float>(5), 1).error().message, HasSubstr("5 entries"));
  EXPECT_THAT(index->search(std::vector<float>{0, 0, 0.5F, 0, 0, 0}, 1).error().message,
              HasSubstr("entry 2 of the indicator is 0.5"));
  EXPECT_THAT(PrototypeIndex::create(3, 0).error().message, HasSubstr("lists of 0"));
}

}  // namespace
}  // namespace sotto::serving
