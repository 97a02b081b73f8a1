#include "data/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>

#include "small_dataset.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Describe, CountsWhatTheDatasetHolds) {
  const TempFolder folder;
  const DatasetSummary summary = describe(write_and_open(small_builder(), folder.path()));
  EXPECT_EQ(summary.name, "small");
  EXPECT_EQ(summary.counts.clicks, 3U);
  EXPECT_EQ(summary.items_with_title, 3U);
  EXPECT_EQ(summary.items_with_abstract, 2U);
  EXPECT_EQ(summary.categories, 3U);
  EXPECT_EQ(summary.subcategories, 1U);
  EXPECT_EQ(summary.entities, 2U);
  EXPECT_EQ(summary.entity_dimension, 3U);
  EXPECT_DOUBLE_EQ(summary.title_words.mean, 7.0 / 3);
  EXPECT_THAT(summary.item_features, ElementsAre("genres", "length"));
  EXPECT_THAT(summary.user_features, ElementsAre("gender", "age"));
  EXPECT_THAT(summary.context_features, ElementsAre("daytime", "cost"));

  const SplitSummary& train = summary.splits[0];
  EXPECT_EQ(train.impressions, 1U);
  EXPECT_EQ(train.users, 1U);
  EXPECT_EQ(train.shown, 3U);
  EXPECT_EQ(train.clicks, 2U);
  EXPECT_EQ(summary.splits[1].impressions, 0U);
  EXPECT_EQ(summary.splits[2].shown, 2U);
  EXPECT_DOUBLE_EQ(summary.history_length.mean, 2.5);
  EXPECT_DOUBLE_EQ(summary.impression_size.mean, 2.5);
  EXPECT_DOUBLE_EQ(summary.clicks_per_impression.mean, 1.5);
  EXPECT_EQ(summary.impressions_per_user.count, 1U);
  EXPECT_EQ(summary.unseen_test_share, 0) << "n4 was shown in training, n1 is in the training history";

  EXPECT_EQ(summary.interactions_per_user.largest, 2U);
  EXPECT_EQ(summary.rated, 1U);
  EXPECT_EQ(summary.mean_rating, 4);
  EXPECT_EQ(summary.first_time, 20);
  EXPECT_EQ(summary.last_time, 200);
}

TEST(Describe, CountsTestCandidatesThatTrainingNeverHad) {
  const TempFolder folder;
  DatasetBuilder builder("b", "");
  std::array<ItemId, 6> items{};
  for (std::size_t item = 0; item < items.size(); ++item) items[item] = builder.item(std::to_string(item));
  const UserId user = builder.user("u");
  const auto history = builder.add_history(std::array{items[0], items[1], items[2]});
  const std::array<std::uint8_t, 4> clicked = {1, 0, 0, 0};
  builder.add_impression(user, 1, Split::train, history, 1, std::array{items[3]},
                         std::span(clicked).first(1));
  builder.add_impression(user, 2, Split::train, history, 2, std::array{items[3]},
                         std::span(clicked).first(1));
  // 2 is only in the test history, 4 and 5 nowhere; 1 grew into the second training history.
  builder.add_impression(user, 3, Split::test, history, 3, std::array{items[1], items[2], items[4], items[5]},
                         clicked);
  const DatasetSummary summary = describe(write_and_open(builder, folder.path()));
  EXPECT_DOUBLE_EQ(summary.unseen_test_share, 0.75);
}

RC_GTEST_PROP(DistributionOf, HasQuantilesThatSplitTheValues, (std::vector<std::uint32_t> values)) {
  RC_PRE(!values.empty());
  const Distribution result = distribution_of(values);
  RC_ASSERT(result.count == values.size());
  RC_ASSERT(result.least == *std::min_element(values.begin(), values.end()));
  RC_ASSERT(result.largest == *std::max_element(values.begin(), values.end()));
  const auto below = [&](std::uint64_t limit) {
    return static_cast<double>(
        std::count_if(values.begin(), values.end(), [&](auto value) { return value < limit; }));
  };
  const auto up_to = [&](std::uint64_t limit) {
    return static_cast<double>(
        std::count_if(values.begin(), values.end(), [&](auto value) { return value <= limit; }));
  };
  const auto size = static_cast<double>(values.size());
  const std::pair<double, std::uint64_t> quantiles[] = {{0.25, result.lower_quartile},
                                                        {0.5, result.median},
                                                        {0.75, result.upper_quartile},
                                                        {0.9, result.ninety_percent}};
  for (const auto& [share, value] : quantiles) {
    RC_ASSERT(below(value) <= share * size);
    RC_ASSERT(up_to(value) >= share * (size - 1));
  }
}

TEST(DescribeText, ShowsWhatThereIsAndNothingElse) {
  const TempFolder folder, empty;
  const std::string text = to_text(describe(write_and_open(small_builder(), folder.path())));
  EXPECT_THAT(text, HasSubstr("small"));
  EXPECT_THAT(text, HasSubstr("1 impressions of 1 users, 3 items shown, 2 clicks"));
  EXPECT_THAT(text, HasSubstr("daytime, cost"));
  EXPECT_THAT(text, HasSubstr("1970-01-01 to 1970-01-01"));
  EXPECT_THAT(text, Not(HasSubstr("validation")));
  const std::string nothing = to_text(describe(write_and_open(DatasetBuilder("none", ""), empty.path())));
  EXPECT_THAT(nothing, Not(HasSubstr("impressions")));
  EXPECT_THAT(nothing, Not(HasSubstr("interactions")));
}

TEST(DescribeText, IsSafeToPrintWhateverTheDatasetIsCalled) {
  DatasetSummary summary;
  summary.name = "\x1b]0;owned\x07";
  summary.origin = std::string(1'000'000, '\n');
  summary.item_features.assign(1000, "\x1b[2J");
  summary.first_time = std::numeric_limits<std::int64_t>::min();
  summary.last_time = std::numeric_limits<std::int64_t>::max();
  const std::string text = to_text(summary);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_LT(text.size(), 6000U);  // an escaped byte takes four
  EXPECT_THAT(text, HasSubstr("and 980 more"));
}

}  // namespace
}  // namespace sotto::data
