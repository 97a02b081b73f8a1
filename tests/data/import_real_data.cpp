// The published data sets, where they are at hand: every count must be the published one.

#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <set>

#include "data/describe.h"
#include "import_fixture.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;

class ImportRealData : public ::testing::Test {
 protected:
  void SetUp() override {
    data_ = shared_data_directory();
    if (!data_) GTEST_SKIP() << "no real data: set SOTTO_DATA to its folder";
  }
  Dataset import(std::string_view kind, std::string_view folder,
                 std::initializer_list<std::string_view> assignments = {}) {
    ImportSettings settings;
    SettingsTable table;
    settings.bind(table);
    for (const std::string_view assignment : assignments) EXPECT_TRUE(table.set_assignment(assignment));
    auto result = import_dataset(kind, *data_ / folder, folder_ / "out", settings);
    if (!result) throw std::runtime_error(result.error().message);
    summary = *result;
    auto dataset = Dataset::open(folder_ / "out");
    if (!dataset) throw std::runtime_error(dataset.error().message);
    return std::move(*dataset);
  }
  ImportSummary summary;

 private:
  std::optional<fs::path> data_;
  TempFolder folder_;
};

TEST_F(ImportRealData, MovieLens1MHasItsPublishedCountsAndHistogram) {
  const Dataset dataset = import("movielens", "ml-1m");
  EXPECT_EQ(summary.malformed_rows, 0U);
  EXPECT_EQ(dataset.user_count(), 6'040U);
  EXPECT_EQ(dataset.item_count(), 3'883U);
  const Interactions& rows = dataset.interactions();
  EXPECT_EQ(rows.size(), 1'000'209U);
  std::array<std::uint64_t, 5> histogram{};
  for (const float rating : rows.ratings) ++histogram.at(static_cast<std::size_t>(rating) - 1);
  EXPECT_THAT(histogram, ElementsAre(56'174U, 107'557U, 261'197U, 348'971U, 226'310U));
  EXPECT_EQ(std::set<ItemId>(rows.items.begin(), rows.items.end()).size(), 3'706U);
  EXPECT_EQ(dataset.catalogue().features.find_categorical("genres")->names.size(), 18U);
  EXPECT_EQ(dataset.catalogue().public_count(), 3'883U);
  const double tied = describe(dataset).tied_share;
  EXPECT_GT(tied, many_ties) << "this copy has no true times";
  RecordProperty("tied_share", std::to_string(tied));
  for (const float year : dataset.catalogue().features.find_numeric("year")->values) {
    EXPECT_TRUE(year >= 1919 && year <= 2000) << year;
  }
}

TEST_F(ImportRealData, FrappeHasItsPublishedCounts) {
  const Dataset dataset = import("frappe", "frappe");
  EXPECT_EQ(summary.malformed_rows, 0U);
  EXPECT_EQ(dataset.interactions().size(), 96'203U);
  EXPECT_EQ(dataset.user_count(), 957U);
  EXPECT_EQ(dataset.item_count(), 4'082U);
  EXPECT_EQ(dataset.interactions().context.categorical.size(), 8U);
  EXPECT_EQ(dataset.catalogue().public_count(), 4'082U);
  // Every value of a declared context is on its list.
  for (const CategoricalFeature& feature : dataset.interactions().context.categorical) {
    EXPECT_TRUE(feature.declared == 0 || feature.declared == feature.names.size()) << feature.name;
  }
}

TEST_F(ImportRealData, GloboHasItsClicksAndIsReadQuickly) {
  const auto start = std::chrono::steady_clock::now();
  const Dataset dataset = import("globo", "globo");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(summary.malformed_rows, 0U);
  EXPECT_EQ(dataset.interactions().size(), 1'539'265U);
  EXPECT_EQ(dataset.user_count(), 237'474U);
  EXPECT_EQ(dataset.item_count(), 26'350U);
  RecordProperty("seconds", std::to_string(seconds));
}

TEST_F(ImportRealData, MindHasItsImpressionsAndNews) {
  const Dataset dataset = import("mind", "mind-partial");
  EXPECT_EQ(summary.malformed_rows, 0U);
  EXPECT_EQ(dataset.impression_count(), 5'000U);
  EXPECT_EQ(dataset.user_count(), 4'637U);
  EXPECT_EQ(summary.counts.clicks, 7'542U);
  EXPECT_EQ(summary.rows, 2'000U + 1'000U + 5'000U);
  std::uint64_t test = 0;
  for (std::size_t i = 0; i < dataset.impression_count(); ++i) {
    test += dataset.impression(i).split == Split::test ? 1 : 0;
  }
  EXPECT_EQ(test, 968U) << "the last day";
}

TEST_F(ImportRealData, AdressaHasItsNews) {
  const Dataset dataset = import("adressa", "adressa-partial");
  EXPECT_EQ(summary.malformed_rows, 0U);
  EXPECT_EQ(dataset.item_count(), 6'085U);
  EXPECT_EQ(dataset.impression_count(), 0U);
}

TEST_F(ImportRealData, FrappeAndMovieLensBecomeImpressionsWithText) {
  const Dataset apps = import("frappe", "frappe", {"view=text"});
  EXPECT_EQ(apps.user_count(), 957U);
  EXPECT_EQ(apps.item_count(), 4'082U);
  EXPECT_GT(apps.impression_count(), 15'000U);
  EXPECT_EQ(apps.counts().clicks, apps.impression_count());
  const Dataset movies = import("movielens", "ml-1m", {"view=text", "replace=true", "sampling=uniform"});
  EXPECT_GT(movies.impression_count(), 500'000U);
  EXPECT_EQ(movies.catalogue().abstracts[0], "Animation, Children's, Comedy");
}

TEST_F(ImportRealData, GowallaHasItsPublishedCounts) {
  const Dataset dataset = import("lists", "gowalla");
  EXPECT_EQ(summary.malformed_rows, 0U);
  EXPECT_EQ(dataset.user_count(), 29'858U);
  EXPECT_EQ(dataset.item_count(), 40'981U);
  const auto& splits = dataset.interactions().splits;
  EXPECT_EQ(splits.size(), 810'128U + 217'242U);
  EXPECT_EQ(std::count(splits.begin(), splits.end(), static_cast<std::uint8_t>(Split::test)), 217'242);
}

}  // namespace
}  // namespace sotto::data
