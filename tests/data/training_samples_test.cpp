#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "data/splits.h"
#include "small_dataset.h"

namespace sotto::data {
namespace {

using ::testing::IsEmpty;

Impression impression_of(std::span<const ItemId> shown, std::span<const std::uint8_t> clicked) {
  return {.user = 0, .time = 0, .split = Split::train, .history = {}, .shown = shown, .clicked = clicked};
}

TEST(TrainingSamples, HoldOneSamplePerClickOfTheSplit) {
  const TempFolder folder;
  const Dataset dataset = write_and_open(small_builder(), folder.path());
  const auto train = training_samples(dataset, 0, Split::train);
  ASSERT_EQ(train.size(), 2U);
  EXPECT_EQ(train[0].impression, 0U);
  EXPECT_EQ(train[0].clicked_position, 0U);
  EXPECT_EQ(train[1].clicked_position, 2U);
  const auto test = training_samples(dataset, 0, Split::test);
  ASSERT_EQ(test.size(), 1U);
  EXPECT_EQ(test[0].impression, 1U);
  EXPECT_THAT(training_samples(dataset, 2, Split::train), IsEmpty());
}

TEST(TrainingSamples, LeaveOutImpressionsWithoutAClickOrWithoutANonClick) {
  const TempFolder folder;
  DatasetBuilder builder("b", "");
  const ItemId a = builder.item("a"), b = builder.item("b");
  const UserId user = builder.user("u");
  const auto history = builder.add_history({});
  const std::array<std::uint8_t, 2> all = {1, 1}, none = {0, 0};
  builder.add_impression(user, 0, Split::train, history, 0, std::array{a, b}, all);
  builder.add_impression(user, 1, Split::train, history, 0, std::array{a, b}, none);
  builder.add_impression(user, 2, Split::train, history, 0, {}, {});
  const Dataset dataset = write_and_open(builder, folder.path());
  EXPECT_THAT(training_samples(dataset, user, Split::train), IsEmpty());
}

RC_GTEST_PROP(SampleNegatives, AreNonClicksRepeatedEvenly, (std::uint64_t seed)) {
  const auto size = *rc::gen::inRange<std::size_t>(1, 12);
  const auto count = *rc::gen::inRange<std::size_t>(0, 30);
  std::vector<ItemId> shown(size);
  std::vector<std::uint8_t> clicked(size);
  std::size_t available = 0;
  for (std::size_t position = 0; position < size; ++position) {
    shown[position] = static_cast<ItemId>(100 + position);
    clicked[position] = *rc::gen::inRange<std::uint8_t>(0, 2);
    available += clicked[position] == 0 ? 1 : 0;
  }
  SeededRandom random(seed, Purpose::test);
  std::vector<ItemId> out = {1, 2, 3};
  const bool any = sample_negatives(impression_of(shown, clicked), count, random, out);
  RC_ASSERT(any == (available > 0));
  if (!any) {
    RC_ASSERT(out.empty());
    return;
  }
  RC_ASSERT(out.size() == count);
  std::map<ItemId, std::size_t> times;
  for (const ItemId item : out) {
    RC_ASSERT(clicked[item - 100] == 0);
    ++times[item];
  }
  for (const auto& [item, repeated] : times) {
    RC_ASSERT(repeated >= count / available);
    RC_ASSERT(repeated <= (count + available - 1) / available);
  }
  if (count >= available) RC_ASSERT(times.size() == available);
}

// Every ordered pair must come equally often: 5 * 4 pairs of non-clicks, 40,000 draws, 2,000 expected each
// with a standard deviation of 44; the seed is fixed.
TEST(SampleNegatives, EveryOrderedChoiceIsEquallyLikely) {
  const std::vector<ItemId> shown = {0, 1, 2, 3, 4, 5, 6};
  const std::vector<std::uint8_t> clicked = {0, 1, 0, 0, 1, 0, 0};
  SeededRandom random(17, Purpose::negative_sampling);
  std::map<std::vector<ItemId>, int> times;
  std::vector<ItemId> out;
  for (int draw = 0; draw < 40'000; ++draw) {
    sample_negatives(impression_of(shown, clicked), 2, random, out);
    ++times[out];
  }
  EXPECT_EQ(times.size(), 20U);
  for (const auto& [pair, count] : times) EXPECT_NEAR(count, 2000, 220);
}

// With more wanted than there are, the odd one out and the order must still be uniform.
TEST(SampleNegatives, RepetitionFavoursNoItemAndNoPosition) {
  const std::vector<ItemId> shown = {0, 1, 2};
  const std::vector<std::uint8_t> clicked = {0, 0, 1};
  SeededRandom random(18, Purpose::negative_sampling);
  std::map<std::vector<ItemId>, int> times;
  std::vector<ItemId> out;
  for (int draw = 0; draw < 30'000; ++draw) {
    sample_negatives(impression_of(shown, clicked), 3, random, out);
    ++times[out];
  }
  // Two of one and one of the other, in any order: 6 outcomes.
  EXPECT_EQ(times.size(), 6U);
  for (const auto& [triple, count] : times) EXPECT_NEAR(count, 5000, 330);
}

}  // namespace
}  // namespace sotto::data
