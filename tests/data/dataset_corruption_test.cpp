// Files with valid checksums and broken structure: each must be refused with the name of what is wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <limits>

#include "edited_sections.h"
#include "small_dataset.h"

namespace sotto::data {
namespace {

namespace sections = dataset_sections;
using Edit = std::function<void(EditedSections&)>;

constexpr std::uint32_t far = 0xFFFFFFFF;
constexpr std::uint64_t very_far = 0xFFFFFFFFFFFFFFFF;

struct Corruption {
  std::string what;
  std::string section;  // that the message must name
  Edit edit;

  // For a wrong value that shows where another section refers to it.
  Corruption seen_in(std::string_view other) && {
    section = other;
    return std::move(*this);
  }
};

template <class T>
Corruption value(std::string_view section, std::size_t row, T wrong, std::string_view what) {
  return {std::string(what), std::string(section),
          [=, name = std::string(section)](EditedSections& file) { file.set<T>(name, row, wrong); }};
}

template <class T>
Corruption shorter(std::string_view section) {
  return {"one row less", std::string(section), [name = std::string(section)](EditedSections& file) {
            std::vector<T> values = file.values<T>(name);
            values.pop_back();
            file.replace(name, values);
          }};
}

template <class T>
Corruption longer(std::string_view section) {
  return {"one row more", std::string(section), [name = std::string(section)](EditedSections& file) {
            std::vector<T> values = file.values<T>(name);
            values.push_back(values.empty() ? T{} : values.back());
            file.replace(name, values);
          }};
}

template <class T>
Corruption replaced(std::string_view section, std::vector<T> values, std::string_view what) {
  return {std::string(what), std::string(section),
          [=, name = std::string(section)](EditedSections& file) { file.replace(name, values); }};
}

std::vector<Corruption> corruptions() {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::string genres_codes = sections::values_of(sections::categorical_codes("item", 0));
  const std::string daytime_offsets = sections::offsets_of(sections::categorical_codes("interaction", 0));
  return {
      value<std::uint64_t>("item.ids.offsets", 0, 1, "first offset not 0"),
      value<std::uint64_t>("item.ids.offsets", 2, 0, "decreasing offsets"),
      value<std::uint64_t>("item.ids.offsets", 1, very_far, "offset beyond the bytes"),
      value<std::uint64_t>("item.ids.offsets", 4, 9, "last offset beyond the bytes"),
      replaced<std::uint64_t>("item.ids.offsets", {}, "no offsets at all"),
      replaced<std::uint64_t>("user.ids.offsets", {}, "no offsets at all"),
      shorter<std::uint64_t>("item.titles.offsets"),
      replaced<std::uint64_t>("item.titles.offsets", {0, 36}, "one title for four items"),
      longer<char>("item.abstracts.bytes").seen_in("item.abstracts.offsets"),
      value<std::uint32_t>("item.categories", 0, 4, "category outside the dictionary"),
      value<std::uint32_t>("item.subcategories", 3, far, "subcategory outside the dictionary"),
      shorter<std::uint32_t>("item.categories"),
      longer<std::uint32_t>("item.subcategories"),
      replaced<std::uint32_t>("item.category_names.bytes", {1}, "elements of the wrong size"),
      value<std::uint64_t>("item.category_names.offsets", 1, 2, "first category has a name")
          .seen_in("item.category_names"),
      replaced<std::uint64_t>("item.subcategory_names.offsets", {0}, "no category at all"),
      value<std::uint32_t>("item.title_entities.values", 1, 2, "entity outside the dictionary"),
      value<std::uint64_t>("item.abstract_entities.offsets", 1, 5, "list beyond its values"),
      shorter<std::uint64_t>("entity.labels.offsets"),
      value<std::uint32_t>("entity.dimension", 0, 4, "vectors of another size").seen_in("entity.vectors"),
      value<std::uint32_t>("entity.dimension", 0, 0, "vectors without a size").seen_in("entity.vectors"),
      replaced<std::uint32_t>("entity.dimension", {}, "no dimension"),
      replaced<std::uint32_t>("entity.dimension", {3, 3}, "two dimensions"),
      value<float>("entity.vectors", 1, missing_number, "vector with NaN"),
      value<float>("entity.vectors", 5, infinity, "infinite vector"),
      shorter<float>("entity.vectors"),
      value<std::uint32_t>(genres_codes, 0, 2, "code outside the names"),
      value<float>("item.numeric.0", 2, -infinity, "infinite feature"),
      longer<float>("item.numeric.0"),
      shorter<float>("user.numeric.0"),
      value<std::uint64_t>(daytime_offsets, 1, 3, "context list beyond its values"),
      shorter<std::uint64_t>(daytime_offsets),
      value<std::uint64_t>("impression.user_offsets", 1, 3, "impressions beyond the last"),
      value<std::uint64_t>("impression.user_offsets", 2, 1, "decreasing user offsets"),
      longer<std::uint64_t>("impression.user_offsets"),
      value<std::uint32_t>("impression.users", 1, 1, "another user's impression"),
      value<std::int64_t>("impression.times", 0, 201, "times out of order"),
      shorter<std::int64_t>("impression.times"),
      value<std::uint8_t>("impression.splits", 0, 3, "unknown split"),
      longer<std::uint8_t>("impression.splits"),
      value<std::uint32_t>("history.items", 2, 4, "unknown item in a history"),
      value<std::uint32_t>("impression.history_lengths", 1, 4, "history beyond the pool"),
      value<std::uint32_t>("impression.history_lengths", 0, far, "history beyond the pool"),
      value<std::uint64_t>("impression.history_starts", 0, very_far, "start that wraps around")
          .seen_in("impression.history_lengths"),
      value<std::uint64_t>("impression.history_starts", 0, 4, "start beyond the pool")
          .seen_in("impression.history_lengths"),
      shorter<std::uint64_t>("impression.history_starts"),
      longer<std::uint32_t>("impression.history_lengths"),
      value<std::uint32_t>("impression.shown", 4, 4, "unknown item shown"),
      value<std::uint64_t>("impression.shown_offsets", 1, 6, "shown beyond the items"),
      shorter<std::uint64_t>("impression.shown_offsets"),
      value<std::uint8_t>("impression.clicked", 0, 2, "click neither 0 nor 1"),
      value<std::uint8_t>("impression.split_origin", 0, 2, "unknown origin of the split"),
      shorter<std::uint8_t>("impression.clicked"),
      value<std::uint64_t>("interaction.user_offsets", 2, 3, "interactions beyond the last"),
      shorter<std::uint64_t>("interaction.user_offsets"),
      value<std::uint32_t>("interaction.items", 0, 4, "unknown item used"),
      value<float>("interaction.ratings", 0, infinity, "infinite rating"),
      shorter<float>("interaction.ratings"),
      value<std::int64_t>("interaction.times", 0, 51, "times out of order"),
      longer<std::int64_t>("interaction.times"),
  };
}

TEST(DatasetCorruption, EveryBrokenStructureIsRefusedByName) {
  const TempFolder original, broken;
  ASSERT_TRUE(small_builder().write(original.path()));
  for (const Corruption& corruption : corruptions()) {
    SCOPED_TRACE(corruption.section + ": " + corruption.what);
    EditedSections file(original.path());
    corruption.edit(file);
    ASSERT_TRUE(file.write(broken.path()));
    const Result<Dataset> dataset = Dataset::open(broken.path());
    ASSERT_FALSE(dataset);
    EXPECT_EQ(dataset.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(dataset.error().message, ::testing::HasSubstr(corruption.section));
  }
}

TEST(DatasetCorruption, EveryMissingSectionIsRefused) {
  const TempFolder original, broken;
  ASSERT_TRUE(small_builder().write(original.path()));
  std::vector<std::string> names;
  EditedSections unedited(original.path());
  for (const EditedSection& section : unedited.all())
    if (section.name != dataset_sections::split_origin)  // without it data is not for private recipes
      names.push_back(section.name);
  ASSERT_GT(names.size(), 50U);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    EditedSections file(original.path());
    file.remove(name);
    ASSERT_TRUE(file.write(broken.path()));
    const Result<Dataset> dataset = Dataset::open(broken.path());
    ASSERT_FALSE(dataset);
    EXPECT_THAT(dataset.error().message, ::testing::HasSubstr(name));
  }
}

TEST(DatasetCorruption, UneditedSectionsStillOpen) {
  const TempFolder original, copy;
  ASSERT_TRUE(small_builder().write(original.path()));
  ASSERT_TRUE(EditedSections(original.path()).write(copy.path()));
  EXPECT_TRUE(Dataset::open(copy.path()));
}

TEST(DatasetCorruption, MissingNumbersAreAllowedWhereTheyMeanSomething) {
  const TempFolder folder;
  ASSERT_TRUE(small_builder().write(folder.path()));
  EditedSections file(folder.path());
  file.set<float>("interaction.ratings", 1, missing_number);
  file.set<float>("item.numeric.0", 2, missing_number);
  ASSERT_TRUE(file.write(folder.path()));
  EXPECT_TRUE(Dataset::open(folder.path()));
}

TEST(DatasetCorruption, TwoFeaturesOfOneNameAreRefused) {
  const TempFolder folder;
  DatasetBuilder builder("b", "");
  builder.item("i");
  builder.set_item_number(0, "aa", 1);
  builder.set_item_number(0, "ab", 2);
  ASSERT_TRUE(builder.write(folder.path()));
  EditedSections file(folder.path());
  file.set<char>("item.numeric.bytes", 3, 'a');
  ASSERT_TRUE(file.write(folder.path()));
  const Result<Dataset> dataset = Dataset::open(folder.path());
  ASSERT_FALSE(dataset);
  EXPECT_THAT(dataset.error().message, ::testing::HasSubstr("comes twice"));
}

TEST(DatasetCorruption, FeatureNamesWithoutColumnsAreRefusedBeforeTheyCostAnything) {
  const TempFolder folder;
  ASSERT_TRUE(small_builder().write(folder.path()));
  EditedSections file(folder.path());
  file.replace("item.numeric.offsets", std::vector<std::uint64_t>(1'000'000, 0));
  file.replace("item.numeric.bytes", std::vector<char>());
  ASSERT_TRUE(file.write(folder.path()));
  const Result<Dataset> dataset = Dataset::open(folder.path());
  ASSERT_FALSE(dataset);
  EXPECT_THAT(dataset.error().message, ::testing::HasSubstr("more than 4096"));
}

TEST(DatasetCorruption, TruncatedAndFlippedFilesAreRefused) {
  const TempFolder folder;
  ASSERT_TRUE(small_builder().write(folder.path()));
  const auto path = folder / sections::file_name;
  std::ifstream input(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(input)), std::istreambuf_iterator<char>());
  const auto opens = [&](std::string_view content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    return Dataset::open(folder.path()).has_value();
  };
  for (std::size_t length = 0; length < bytes.size(); length += 97)
    EXPECT_FALSE(opens(bytes.substr(0, length)));
  for (std::size_t place = 0; place < bytes.size(); place += 89) {
    std::string flipped = bytes;
    flipped[place] = static_cast<char>(flipped[place] ^ 0x40);
    EXPECT_FALSE(opens(flipped)) << "byte " << place;
  }
  EXPECT_TRUE(opens(bytes));
}

}  // namespace
}  // namespace sotto::data
