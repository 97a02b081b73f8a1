#include <gtest/gtest.h>

#include "data/dataset_builder.h"
#include "model/news/news_shape.h"
#include "test_paths.h"

namespace sotto::model {
namespace {

struct Built {
  explicit Built(const FeatureUse& use, bool vectors = true) : dataset(make(folder, vectors)) {
    const auto& titles = dataset.catalogue().titles;
    const text::WordTokenizer tokenizer;
    vocabulary = std::make_unique<text::Vocabulary>(text::Vocabulary::build(text::count_words(
        titles.size(), [&](std::size_t i) { return titles[i]; }, tokenizer)));
    features = build_item_features(dataset.catalogue(), use, tokenizer, *vocabulary, {4, 2});
  }
  static data::Dataset make(const TempFolder& folder, bool vectors) {
    data::DatasetBuilder builder("features", "test");
    const std::vector<data::EntityMention> two = {{"Q1", "New York"}, {"Q2", "Yankees"}},
                                           one = {{"Q3", "Moon"}};
    builder.add_item({"N1", "New York wins again today", "storm in York", "sports", "baseball", two});
    builder.add_item({"N2", "", "", "", ""});
    builder.add_item({"N3", "Storm", "", "weather", "", one});
    if (vectors) {
      EXPECT_TRUE(builder.set_entity_vector("Q1", std::vector<float>{1, 2}));
      EXPECT_TRUE(builder.set_entity_vector("Q3", std::vector<float>{3, 4}));
    }
    EXPECT_TRUE(builder.write(folder.path()));
    return std::move(*data::Dataset::open(folder.path()));
  }
  std::vector<std::string> words(std::span<const std::int32_t> ids) const {
    std::vector<std::string> found;
    for (const std::int32_t id : ids) found.emplace_back(id == LinkedText::none ? "-" : vocabulary->word(id));
    return found;
  }
  std::vector<std::string> entities(std::span<const std::int32_t> ids) const {
    std::vector<std::string> found;
    for (const std::int32_t id : ids)
      found.emplace_back(
          id == LinkedText::none ? "-" : dataset.catalogue().entity_ids[static_cast<std::size_t>(id)]);
    return found;
  }
  TempFolder folder;
  data::Dataset dataset;
  std::unique_ptr<text::Vocabulary> vocabulary;
  ItemFeatures features;
};

using Words = std::vector<std::string>;

TEST(ItemFeatures, CutTextsAtTheirLimits) {
  const Built built({.abstracts = true});
  EXPECT_EQ(built.words(built.features.titles.of(0)), (Words{"new", "york", "wins", "again"}));
  EXPECT_TRUE(built.features.titles.of(1).empty());
  EXPECT_EQ(built.features.abstracts.of(0).size(), 2U);
  EXPECT_EQ(built.features.abstracts.size(), 3U);
}

TEST(ItemFeatures, HoldNothingThatWasNotAskedFor) {
  const Built built({});
  EXPECT_EQ(built.features.abstracts.size(), 0U);
  EXPECT_TRUE(built.features.categories.empty());
  EXPECT_FALSE(built.features.entity_vectors.defined());
}

TEST(ItemFeatures, UnknownCategoryIsCodeZero) {
  const Built built({.categories = true});
  EXPECT_EQ(built.features.categories[1], 0);
  EXPECT_NE(built.features.categories[0], built.features.categories[2]);
  EXPECT_EQ(built.features.subcategories[2], 0);
  EXPECT_EQ(built.features.category_count, 3);
}

TEST(ItemFeatures, EntitiesStandAtTheWordsOfTheirLabel) {
  const Built built({.entities = true});
  const LinkedText& linked = built.features.linked_titles;
  const auto first = static_cast<std::size_t>(linked.offsets[1]);
  // "Yankees" is not in the title: it follows the words, without one.
  EXPECT_EQ(built.words(std::span(linked.words).first(first)), (Words{"new", "york", "wins", "again", "-"}));
  EXPECT_EQ(built.entities(std::span(linked.entities).first(first)), (Words{"Q1", "Q1", "-", "-", "Q2"}));
  EXPECT_EQ(linked.offsets[1], linked.offsets[2]);
  EXPECT_EQ(built.entities(std::span(linked.entities).subspan(first)), (Words{"-", "Q3"}));
  EXPECT_EQ(built.features.entity_vectors.sizes(), torch::IntArrayRef({3, 2}));
}

TEST(ItemFeatures, HaveNoEntityVectorsWhereTheDataHasNone) {
  const Built built({.entities = true}, false);
  EXPECT_EQ(built.features.entity_count, 3);
  EXPECT_FALSE(built.features.entity_vectors.defined());
}

}  // namespace
}  // namespace sotto::model
