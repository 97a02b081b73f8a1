#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/dataset.h"
#include "small_dataset.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class RoundTrip : public ::testing::Test {
 protected:
  TempFolder folder_;
  Dataset dataset_ = write_and_open(small_builder(), folder_.path());
};

TEST_F(RoundTrip, KeepsNameOriginAndCounts) {
  EXPECT_EQ(dataset_.name(), "small");
  EXPECT_EQ(dataset_.origin(), "written by hand");
  const DatasetCounts counts = dataset_.counts();
  EXPECT_EQ(counts.users, 3U);
  EXPECT_EQ(counts.items, 4U);
  EXPECT_EQ(counts.interactions, 2U);
  EXPECT_EQ(counts.impressions, 2U);
  EXPECT_EQ(counts.clicks, 3U);
  EXPECT_TRUE(dataset_.has_impressions());
  EXPECT_TRUE(dataset_.has_interactions());
}

TEST_F(RoundTrip, KeepsItemTextsAndCategories) {
  const Catalogue& catalogue = dataset_.catalogue();
  EXPECT_EQ(catalogue.ids[0], "n1");
  EXPECT_EQ(catalogue.titles[1], "Cup final tonight");
  EXPECT_EQ(catalogue.abstracts[2], "Baked.");
  EXPECT_EQ(catalogue.category_names[0], "");
  EXPECT_EQ(catalogue.category_names[catalogue.categories[1]], "sports");
  EXPECT_EQ(catalogue.subcategory_names[catalogue.subcategories[0]], "weather");
  EXPECT_EQ(catalogue.ids[3], "n4");
  EXPECT_EQ(catalogue.titles[3], "");
  EXPECT_EQ(catalogue.categories[3], 0U);
}

TEST_F(RoundTrip, KeepsEntitiesAndTheirVectors) {
  const Catalogue& catalogue = dataset_.catalogue();
  EXPECT_THAT(catalogue.title_entities[0], ElementsAre(0U, 1U));
  EXPECT_THAT(catalogue.abstract_entities[0], ElementsAre(1U));
  EXPECT_THAT(catalogue.title_entities[1], IsEmpty());
  EXPECT_EQ(catalogue.entity_ids[1], "Q2");
  EXPECT_EQ(catalogue.entity_labels[0], "Oslo");
  EXPECT_EQ(catalogue.entity_dimension, 3U);
  EXPECT_THAT(catalogue.entity_vectors, ElementsAre(0, 0, 0, 0.5F, -1, 2));
}

TEST_F(RoundTrip, KeepsItemAndUserFeaturesWithTheirGaps) {
  const CategoricalFeature* genres = dataset_.catalogue().features.find_categorical("genres");
  ASSERT_NE(genres, nullptr);
  EXPECT_EQ(genres->names[genres->codes[1][0]], "Drama");
  EXPECT_EQ(genres->names[genres->codes[1][1]], "Comedy");
  EXPECT_THAT(genres->codes[3], IsEmpty());
  const NumericFeature* length = dataset_.catalogue().features.find_numeric("length");
  ASSERT_NE(length, nullptr);
  EXPECT_EQ(length->values[2], 2.5F);
  EXPECT_TRUE(std::isnan(length->values[0]));
  EXPECT_TRUE(std::isnan(length->values[3]));

  const CategoricalFeature* gender = dataset_.user_features().find_categorical("gender");
  ASSERT_NE(gender, nullptr);
  EXPECT_EQ(gender->names[gender->codes[0][0]], "F");
  EXPECT_THAT(gender->codes[1], IsEmpty());
  EXPECT_EQ(dataset_.user_features().find_numeric("age")->values[1], 41);
  EXPECT_EQ(dataset_.user_features().find_numeric("genres"), nullptr);
  EXPECT_EQ(dataset_.user_features().find_categorical("age"), nullptr);
}

TEST_F(RoundTrip, KeepsImpressionsInTimeOrderWithPrefixHistories) {
  EXPECT_THAT(dataset_.impressions_of(0), Pair(0U, 2U));
  EXPECT_THAT(dataset_.impressions_of(2), Pair(2U, 2U));
  const Impression first = dataset_.impression(0), second = dataset_.impression(1);
  EXPECT_EQ(first.user, 0U);
  EXPECT_EQ(first.time, 100);
  EXPECT_EQ(first.split, Split::train);
  EXPECT_THAT(first.history, ElementsAre(1U, 0U));
  EXPECT_THAT(first.shown, ElementsAre(2U, 3U, 1U));
  EXPECT_THAT(first.clicked, ElementsAre(1, 0, 1));
  EXPECT_EQ(second.time, 200);
  EXPECT_EQ(second.split, Split::test);
  EXPECT_THAT(second.history, ElementsAre(1U, 0U, 2U));
  EXPECT_THAT(second.shown, ElementsAre(3U, 0U));
  EXPECT_EQ(first.history.data(), second.history.data()) << "a shared history is stored once";
}

TEST_F(RoundTrip, KeepsInteractionsInTimeOrderWithContext) {
  const Interactions& interactions = dataset_.interactions();
  EXPECT_THAT(interactions.user_offsets, ElementsAre(0U, 0U, 2U, 2U));
  EXPECT_THAT(interactions.items, ElementsAre(0U, 2U));
  EXPECT_THAT(interactions.times, ElementsAre(20, 50));
  EXPECT_TRUE(std::isnan(interactions.ratings[0]));
  EXPECT_EQ(interactions.ratings[1], 4);
  const CategoricalFeature* daytime = interactions.context.find_categorical("daytime");
  ASSERT_NE(daytime, nullptr);
  EXPECT_EQ(daytime->names[daytime->codes[0][0]], "night");
  EXPECT_EQ(daytime->names[daytime->codes[1][0]], "noon");
  const NumericFeature* cost = interactions.context.find_numeric("cost");
  EXPECT_TRUE(std::isnan(cost->values[0]));
  EXPECT_EQ(cost->values[1], 1.5F);
}

TEST_F(RoundTrip, ViewsSurviveAMove) {
  const std::string_view title = dataset_.catalogue().titles[0];
  const Dataset moved = std::move(dataset_);
  EXPECT_EQ(title, "Rain over Oslo");
  EXPECT_EQ(moved.catalogue().titles[0].data(), title.data());
}

TEST(Dataset, MayBeEmpty) {
  const TempFolder folder;
  const Dataset dataset = write_and_open(DatasetBuilder("", ""), folder.path());
  EXPECT_EQ(dataset.user_count(), 0U);
  EXPECT_EQ(dataset.item_count(), 0U);
  EXPECT_FALSE(dataset.has_impressions());
  EXPECT_FALSE(dataset.has_interactions());
}

TEST(Dataset, SaysHowToMakeOneWhereThereIsNone) {
  const TempFolder folder;
  const Result<Dataset> dataset = Dataset::open(folder.path());
  ASSERT_FALSE(dataset);
  EXPECT_EQ(dataset.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(dataset.error().message, ::testing::HasSubstr("sotto data import"));
}

TEST(Dataset, FeatureNamesMayBeAnything) {
  const TempFolder folder;
  DatasetBuilder builder("hostile", "");
  const ItemId item = builder.item("i");
  const std::array<std::string_view, 1> value = {"v"};
  const std::string long_name(100'000, 'x');
  const std::string_view zero_byte("a\0b", 3);
  builder.set_item_category(item, "", value);
  builder.set_item_category(item, "../../etc/passwd", value);
  builder.set_item_category(item, zero_byte, value);
  builder.set_item_number(item, long_name, 7);
  builder.set_item_number(item, "{}%s\x1b[2J", 8);
  const Dataset dataset = write_and_open(builder, folder.path());
  const Features& features = dataset.catalogue().features;
  EXPECT_NE(features.find_categorical(""), nullptr);
  EXPECT_NE(features.find_categorical("../../etc/passwd"), nullptr);
  EXPECT_NE(features.find_categorical(zero_byte), nullptr);
  EXPECT_EQ(features.find_numeric(long_name)->values[0], 7);
  EXPECT_EQ(features.find_numeric("{}%s\x1b[2J")->values[0], 8);
}

}  // namespace
}  // namespace sotto::data
