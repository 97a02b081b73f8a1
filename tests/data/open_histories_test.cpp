#include <gtest/gtest.h>

#include "data/dataset_builder.h"
#include "data/dataset_copy.h"
#include "test_paths.h"

namespace sotto::data {
namespace {

// Items 0..3 of sports and health in turn; one reader who clicked `history` and is tested once.
Dataset reader_of(const TempFolder& folder, std::vector<ItemId> history) {
  DatasetBuilder builder("reader", "test");
  for (int i = 0; i < 4; ++i)
    builder.add_item({.id = std::string(1, static_cast<char>('a' + i)),
                      .title = "title",
                      .category = i % 2 == 0 ? "sports" : "health"});
  const UserId user = builder.user("u");
  const auto handle = builder.add_history(history);
  const std::vector<ItemId> shown = {1, 2};
  builder.add_impression(user, 5, Split::train, handle, 0, shown, std::vector<std::uint8_t>{1, 0});
  builder.add_impression(user, 9, Split::test, handle, static_cast<std::uint32_t>(history.size()), shown,
                         std::vector<std::uint8_t>{0, 1});
  EXPECT_TRUE(builder.write(folder.path()));
  return Dataset::open(folder.path()).value();
}

TEST(OpenHistories, HoldClicksOfTheGivenCategoriesAlone) {
  const TempFolder source, target;
  const auto open =
      open_histories(reader_of(source, {1, 2, 3, 0}), std::vector<std::string>{"sports"}, target.path());
  ASSERT_TRUE(open) << open.error().message;
  ASSERT_EQ(open->impression_count(), 1U) << "test impressions only";
  const Impression tested = open->impression(0);
  EXPECT_EQ(std::vector<ItemId>(tested.history.begin(), tested.history.end()), (std::vector<ItemId>{2, 0}));
  EXPECT_EQ(tested.shown.size(), 2U);
  EXPECT_EQ(open->catalogue().titles[3], "title");
}

TEST(OpenHistories, AreTheSameBytesWhateverElseWasClicked) {
  const TempFolder with, without, open_with, open_without;
  const std::vector<std::string> sports = {"sports"};
  ASSERT_TRUE(open_histories(reader_of(with, {1, 2, 3, 0}), sports, open_with.path()));
  ASSERT_TRUE(open_histories(reader_of(without, {2, 0}), sports, open_without.path()));
  EXPECT_EQ(read_file(open_with / "dataset.sotto", 1 << 20).value(),
            read_file(open_without / "dataset.sotto", 1 << 20).value());
}

TEST(OpenHistories, UnknownCategoriesAreRefused) {
  const TempFolder source, target;
  const Dataset dataset = reader_of(source, {0});
  const auto refused = open_histories(dataset, std::vector<std::string>{"sport"}, target.path());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("did you mean 'sports'"), std::string::npos);
  EXPECT_FALSE(open_histories(dataset, std::vector<std::string>{""}, target.path()));
}

}  // namespace
}  // namespace sotto::data
