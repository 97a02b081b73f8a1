// The exact index gives the answer of scoring every row, to the last bit, on data chosen to break it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "index_fixture.h"

namespace sotto::serving {
namespace {

using namespace index_test;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ExactIndex, AgreesWithBruteForceOnPrivateQueries) {
  for (const std::size_t dimension : {1U, 3U, 5U, 17U}) {
    const auto rows = normal_rows(12'000, dimension, dimension);
    const auto index = index_of(rows, dimension);
    const auto coded = index_of(rows, dimension, FirstLook::codes);
    SeededRandom random(7, Purpose::test);
    for (int query = 0; query < 20; ++query) {
      const auto weights = random_mixture(dimension, random);
      const auto truth = brute_force(rows, weights, 10);
      EXPECT_EQ(index->search(weights, 10).value(), truth);
      EXPECT_EQ(coded->search(weights, 10).value(), truth);
    }
  }
}

TEST(ExactIndex, AgreesWithBruteForceWithCoefficientsOfEitherSign) {
  const auto rows = normal_rows(20'000, 5, 1);
  const auto index = index_of(rows, 5);
  const auto coded = index_of(rows, 5, FirstLook::codes);
  SeededRandom random(8, Purpose::test);
  for (int query = 0; query < 40; ++query) {
    std::vector<float> coefficients(5);
    for (float& coefficient : coefficients) {
      coefficient = static_cast<float>(normal(random) * std::pow(10.0, 10 * normal(random)));
    }
    const auto truth = brute_force(rows, coefficients, 25);
    EXPECT_EQ(index->search(coefficients, 25).value(), truth);
    EXPECT_EQ(coded->search(coefficients, 25).value(), truth);
  }
}

TEST(ExactIndex, ABatchGivesTheSameAnswersAsItsQueries) {
  const auto rows = normal_rows(90'000, 4, 2);
  const auto index = index_of(rows, 4);
  SeededRandom random(9, Purpose::test);
  std::vector<float> queries;
  for (int query = 0; query < 150; ++query) {
    // Some with negative coefficients, and some that cannot skip anything.
    auto weights = query % 10 == 0 ? std::vector<float>(4, 0.0F) : random_mixture(4, random);
    if (query % 3 == 0) weights[1] *= -1;
    queries.insert(queries.end(), weights.begin(), weights.end());
  }
  const auto answers = index->search_batch(queries, 12).value();
  ASSERT_EQ(answers.size(), 150U);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i], index->search(std::span(queries).subspan(4 * i, 4), 12).value()) << i;
  }
  EXPECT_EQ(answers[1], brute_force(rows, std::span(queries).subspan(4, 4), 12));
  EXPECT_EQ(answers[10], brute_force(rows, std::span(queries).subspan(40, 4), 12));
}

TEST(ExactIndex, FiltersAreExactToo) {
  const auto rows = normal_rows(20'000, 3, 3);
  const auto index = index_of(rows, 3);
  SeededRandom random(10, Purpose::test);
  for (const ItemFilter& filter : {ItemFilter{{1, 3}, {}, 0}, ItemFilter{{}, {1}, 0}, ItemFilter{{}, {}, 990},
                                   ItemFilter{{2}, {0}, 995}, ItemFilter{{77}, {}, 0}}) {
    const auto weights = random_mixture(3, random);
    EXPECT_EQ(index->search(weights, 10, filter).value(), brute_force(rows, weights, 10, filter));
  }
}

TEST(ExactIndex, EqualScoresComeInTheOrderOfTheirNumbers) {
  PlainRows rows;
  for (ItemNumber item = 0; item < 5000; ++item) rows[5000 - item] = {{}, {1.0F, 2.0F}};
  const auto index = index_of(rows, 2);
  const auto found = index->search(std::vector<float>{0.25F, 0.75F}, 7).value();
  ASSERT_EQ(found.size(), 7U);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i], (ScoredItem{1.75, static_cast<ItemNumber>(i + 1)}));
}

// Blocks that are skipped because their rows tie: equal rows, and rows that differ but score the same.
TEST(ExactIndex, TiesOverManyBlocksAreBrokenByNumberAloneAndInBatches) {
  constexpr std::size_t count = 70'000;  // more blocks than a query looks at before it joins a shared pass
  for (const bool equal : {true, false}) {
    RowBatch rows{2, {}, {}, {}};
    for (std::size_t i = 0; i < count; ++i) {
      const auto x = equal ? 1.0F : static_cast<float>(i % 64) / 64;
      rows.add(static_cast<ItemNumber>(1 + i * 7919 % count), {}, std::vector<float>{x, 2 - x});
    }
    const auto index = LiveIndex::create(2, LiveIndex::Merging::when_asked).value();
    ASSERT_TRUE(index->update({{}, rows}));
    ASSERT_TRUE(index->update({{1, 2, 4}, {2, {}, {}, {}}}));
    const std::vector<ScoredItem> best = {{1, 3}, {1, 5}, {1, 6}, {1, 7}};
    const std::vector<float> query = {0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F};
    EXPECT_EQ(index->search(std::span(query).first(2), 4).value(), best);
    const auto batch = index->search_batch(query, 4).value();
    ASSERT_EQ(batch.size(), 3U);
    for (const auto& found : batch) EXPECT_EQ(found, best);
  }
}

TEST(ExactIndex, NoItemsGiveNoAnswersAndOneGivesOne) {
  const auto index = LiveIndex::create(2, LiveIndex::Merging::when_asked).value();
  EXPECT_THAT(index->search(std::vector<float>{0.5F, 0.5F}, 10).value(), IsEmpty());
  RowBatch one{2, {}, {}, {}};
  one.add(42, {}, std::vector<float>{-1, -3});
  ASSERT_TRUE(index->update({{}, one}));
  EXPECT_EQ(index->search(std::vector<float>{0.5F, 0.5F}, 10).value(), (std::vector<ScoredItem>{{-2, 42}}));
}

TEST(ExactIndex, TellsWhatIsWrongWithAQuery) {
  const auto index = LiveIndex::create(2, LiveIndex::Merging::when_asked).value();
  const auto message = [&](std::vector<float> query, std::uint32_t k) {
    return index->search(query, k).error().message;
  };
  EXPECT_THAT(message({1}, 10), HasSubstr("1 coefficients where the index has 2"));
  EXPECT_THAT(message({1, std::numeric_limits<float>::quiet_NaN()}, 10), HasSubstr("coefficient 1 is nan"));
  EXPECT_THAT(message({1, 1}, 0), HasSubstr("ask for 1 to"));
  EXPECT_THAT(message({1, 1}, most_answers + 1), HasSubstr("ask for 1 to"));
  EXPECT_THAT(LiveIndex::create(0).error().message, HasSubstr("choose 1 to"));
  EXPECT_THAT(index->search_batch(std::vector<float>(3), 1).error().message, HasSubstr("whole number"));
}

TEST(ExactIndex, TellsWhatIsWrongWithAnUpdateAndStaysAsItWas) {
  const auto index = LiveIndex::create(1, LiveIndex::Merging::when_asked).value();
  const auto message = [&](const RowBatch& rows) { return index->update({{}, rows}).error().message; };
  EXPECT_THAT(message({1, {1, 1}, {{}, {}}, {0, 0}}), HasSubstr("item 1 is there twice"));
  EXPECT_THAT(message({1, {1, 2}, {{}, {}}, {0, std::numeric_limits<float>::infinity()}}),
              HasSubstr("number 1 is inf"));
  EXPECT_THAT(message({2, {1}, {{}}, {0, 0}}), HasSubstr("do not fit"));
  EXPECT_EQ(index->size(), 0U);
}

// Values and coefficients that meet every difficulty of floating point: ties, duplicates, denormals, huge
// ratios.
rc::Gen<float> awkward_number() {
  return rc::gen::element(0.0F, -0.0F, 1.0F, -1.0F, 0.1F, 0.3F, -0.7F, 1e-45F, -1e-45F, 1e-38F, 1e-30F, 1e18F,
                          -1e18F, 16777216.0F, 16777215.0F, 1.0000001F, 0.99999994F, 3e-39F);
}

RC_GTEST_PROP(ExactIndex, AgreesWithBruteForceOnAwkwardNumbers, ()) {
  const auto dimension = *rc::gen::inRange<std::size_t>(1, 7);
  const auto count = *rc::gen::inRange<std::size_t>(0, 700);
  const auto k = *rc::gen::inRange<std::uint32_t>(1, 900);
  PlainRows rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows[static_cast<ItemNumber>(i * 7 % 701)] = {
        {}, *rc::gen::container<std::vector<float>>(dimension, awkward_number())};
  }
  const auto coefficients = *rc::gen::container<std::vector<float>>(dimension, awkward_number());
  const auto first_look = *rc::gen::element(FirstLook::values, FirstLook::codes);
  // Segments are made of whole tails: fewer rows would be scanned one by one.
  PlainRows many = rows;
  for (ItemNumber item = 1000; item < 2100; ++item) many[item] = {{}, std::vector<float>(dimension, -1e18F)};
  const auto large = index_of(many, dimension, first_look);
  RC_ASSERT(large->search(coefficients, k).value() == brute_force(many, coefficients, k));
  const auto index = index_of(rows, dimension, first_look);
  RC_ASSERT(index->search(coefficients, k).value() == brute_force(rows, coefficients, k));
  std::vector<float> twice = coefficients;
  twice.insert(twice.end(), coefficients.begin(), coefficients.end());
  RC_ASSERT(index->search_batch(twice, k).value()[1] == brute_force(rows, coefficients, k));
}

// Scores that differ in the last bits only: a search that trusted single precision would mix them up.
TEST(ExactIndex, TellsScoresApartThatSinglePrecisionCannot) {
  SeededRandom random(11, Purpose::test);
  PlainRows rows;
  for (ItemNumber item = 0; item < 20'000; ++item) {
    PlainRow row;
    for (int d = 0; d < 5; ++d)
      row.values.push_back(std::nextafter(1.0F, 2.0F * static_cast<float>(random() % 3)));
    rows.emplace(item, std::move(row));
  }
  const auto index = index_of(rows, 5);
  const auto coded = index_of(rows, 5, FirstLook::codes);
  for (int query = 0; query < 10; ++query) {
    const auto weights = random_mixture(5, random);
    EXPECT_EQ(index->search(weights, 50).value(), brute_force(rows, weights, 50));
    EXPECT_EQ(coded->search(weights, 50).value(), brute_force(rows, weights, 50));
  }
}

}  // namespace
}  // namespace sotto::serving
