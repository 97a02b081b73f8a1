#include "data/dataset_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "small_dataset.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DatasetBuilder, CompletesAnItemWithTheFirstTextThatIsNotEmpty) {
  const TempFolder folder;
  DatasetBuilder builder("b", "");
  const ItemId item = builder.item("n");
  EXPECT_EQ(builder.items_without_text(), 1U);
  const std::vector<EntityMention> first = {{"Q1", ""}}, second = {{"Q2", "two"}, {"Q1", "one"}};
  EXPECT_EQ(builder.add_item({.id = "n", .abstract = "A", .category = "c", .title_entities = first}), item);
  EXPECT_EQ(builder.items_without_text(), 0U);
  EXPECT_EQ(builder.add_item({.id = "n",
                              .title = "T",
                              .abstract = "other",
                              .category = "other",
                              .subcategory = "s",
                              .title_entities = second}),
            item);
  const Dataset dataset = write_and_open(builder, folder.path());
  const Catalogue& catalogue = dataset.catalogue();
  EXPECT_EQ(catalogue.size(), 1U);
  EXPECT_EQ(catalogue.titles[0], "T");
  EXPECT_EQ(catalogue.abstracts[0], "A");
  EXPECT_EQ(catalogue.category_names[catalogue.categories[0]], "c");
  EXPECT_EQ(catalogue.subcategory_names[catalogue.subcategories[0]], "s");
  EXPECT_THAT(catalogue.title_entities[0], ElementsAre(0U));
  EXPECT_EQ(catalogue.entity_labels[0], "one");
}

TEST(DatasetBuilder, SortsByUserAndKeepsTheOrderOfEqualTimes) {
  const TempFolder folder;
  DatasetBuilder builder("b", "");
  const ItemId items[] = {builder.item("0"), builder.item("1"), builder.item("2"), builder.item("3")};
  const UserId first = builder.user("first"), second = builder.user("second");
  builder.add_interaction(second, items[0], missing_number, 5);
  builder.add_interaction(first, items[1], missing_number, 9);
  builder.add_interaction(first, items[2], missing_number, -1);
  builder.add_interaction(first, items[3], missing_number, 9);
  builder.add_interaction(second, items[3], missing_number, 5);
  const Dataset dataset = write_and_open(builder, folder.path());
  EXPECT_THAT(dataset.interactions().items, ElementsAre(2U, 1U, 3U, 0U, 3U));
  EXPECT_THAT(dataset.interactions().times, ElementsAre(-1, 9, 9, 5, 5));
}

TEST(DatasetBuilder, StoresHistoriesOnceAndOnlyAsFarAsNeeded) {
  const TempFolder folder;
  DatasetBuilder builder("b", "");
  const ItemId a = builder.item("a"), b = builder.item("b");
  const UserId user = builder.user("u");
  builder.add_history(std::vector<ItemId>(1000, a));  // used by nobody
  const auto shared = builder.add_history(std::array{a, b, a, b, a});
  const auto other = builder.add_history(std::array{b});
  for (std::uint32_t length = 0; length < 4; ++length) {
    builder.add_impression(user, length, Split::train, shared, length, std::array{a},
                           std::array<std::uint8_t, 1>{1});
  }
  builder.add_impression(user, 10, Split::train, other, 1, std::array{a}, std::array<std::uint8_t, 1>{1});
  const Dataset dataset = write_and_open(builder, folder.path());
  const ItemId* start = dataset.impression(0).history.data();
  for (std::size_t length = 0; length < 4; ++length) {
    EXPECT_EQ(dataset.impression(length).history.data(), start);
    EXPECT_EQ(dataset.impression(length).history.size(), length);
  }
  EXPECT_EQ(dataset.impression(4).history.data(), start + 3);
}

TEST(DatasetBuilder, TheLastValueOfAFeatureStaysAndEmptyOnesAreMissing) {
  const TempFolder folder;
  DatasetBuilder builder("b", "");
  const UserId user = builder.user("u");
  const std::array<std::string_view, 3> before = {"x", "y", "z"};
  const std::array<std::string_view, 2> after = {"", "y"};
  builder.set_user_category(user, "kind", before);
  builder.set_user_category(user, "kind", after);
  builder.set_user_number(user, "age", 1);
  builder.set_user_number(user, "age", missing_number);
  const Dataset dataset = write_and_open(builder, folder.path());
  const CategoricalFeature& kind = dataset.user_features().categorical[0];
  ASSERT_EQ(kind.codes[0].size(), 1U);
  EXPECT_EQ(kind.names[kind.codes[0][0]], "y");
  EXPECT_TRUE(std::isnan(dataset.user_features().numeric[0].values[0]));
}

TEST(DatasetBuilder, RefusesEntityVectorsThatDoNotFit) {
  DatasetBuilder builder = small_builder();
  EXPECT_TRUE(builder.set_entity_vector("Q unknown", std::array{1.0F, 2.0F, 3.0F}));
  EXPECT_FALSE(builder.set_entity_vector("Q1", std::array{1.0F, 2.0F}));
  EXPECT_FALSE(builder.set_entity_vector("Q1", std::span<const float>()));
  EXPECT_FALSE(builder.set_entity_vector("Q1", std::array{1.0F, 2.0F, missing_number}));
  EXPECT_FALSE(
      builder.set_entity_vector("Q1", std::array{1.0F, 2.0F, std::numeric_limits<float>::infinity()}));
}

// Each wrong use must be told by write(), and no file may appear.
void expect_refused(const DatasetBuilder& builder, std::string_view reason) {
  const TempFolder folder;
  const Status written = builder.write(folder.path());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(written.error().message, HasSubstr(std::string(reason)));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(DatasetBuilder, RefusesNumbersNeverGivenOut) {
  DatasetBuilder with_user = small_builder();
  with_user.set_user_number(3, "age", 1);
  expect_refused(with_user, "user number 3");
  DatasetBuilder with_item = small_builder();
  with_item.add_interaction(0, 4, 1, 0);
  expect_refused(with_item, "item number 4");
  DatasetBuilder with_history_item = small_builder();
  with_history_item.add_history(std::array<ItemId, 1>{9});
  expect_refused(with_history_item, "item number 9");
  DatasetBuilder with_feature = small_builder();
  with_feature.set_item_category(77, "f", {});
  expect_refused(with_feature, "item number 77");
}

TEST(DatasetBuilder, RefusesImpressionsThatDoNotFitTogether) {
  const std::array<ItemId, 2> shown = {0, 1};
  const std::array<std::uint8_t, 2> marks = {0, 1}, wrong_marks = {0, 2};
  DatasetBuilder lengths = small_builder();
  lengths.add_impression(0, 0, Split::train, 0, 0, shown, std::span(marks).first(1));
  expect_refused(lengths, "shows 2 items but marks 1");
  DatasetBuilder mark = small_builder();
  mark.add_impression(0, 0, Split::train, 0, 0, shown, wrong_marks);
  expect_refused(mark, "neither 0 nor 1");
  DatasetBuilder handle = small_builder();
  handle.add_impression(0, 0, Split::train, 1, 0, shown, marks);
  expect_refused(handle, "never added");
  DatasetBuilder prefix = small_builder();
  prefix.add_impression(0, 0, Split::train, 0, 4, shown, marks);
  expect_refused(prefix, "4 clicks of a history of 3");
}

TEST(DatasetBuilder, RefusesInfiniteNumbers) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  DatasetBuilder rating = small_builder();
  rating.add_interaction(0, 0, -infinity, 0);
  expect_refused(rating, "infinite");
  DatasetBuilder feature = small_builder();
  feature.set_item_number(0, "bad\x1b", infinity);
  expect_refused(feature, "'bad\\x1b'");
}

TEST(DatasetBuilder, TellsTheFirstProblem) {
  DatasetBuilder builder = small_builder();
  builder.set_user_number(8, "age", 1);
  builder.set_user_number(9, "age", 1);
  expect_refused(builder, "user number 8");
}

TEST(DatasetBuilder, RefusesMoreFeaturesThanAFileHolds) {
  DatasetBuilder builder("b", "");
  builder.user("u");
  for (int number = 0; number < 4097; ++number) builder.set_user_number(0, "f" + std::to_string(number), 1);
  expect_refused(builder, "at most 4096");
}

TEST(DatasetBuilder, FailsWithoutADirectory) {
  const TempFolder folder;
  EXPECT_FALSE(small_builder().write(folder / "missing"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace sotto::data
