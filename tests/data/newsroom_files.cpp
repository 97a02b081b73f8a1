// What the generator leaves on disk: MIND's format, the same data set as importing it, the same bytes every
// time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "data/importers/importers.h"
#include "data/newsroom/newsroom.h"
#include "newsroom_fixture.h"
#include "test_paths.h"

namespace sotto::data {
namespace {

using newsroom::small_newsroom;
using ::testing::HasSubstr;

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::vector<std::string>> rows(const fs::path& file) {
  std::vector<std::vector<std::string>> result;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string> columns;
    std::size_t begin = 0;
    for (std::size_t tab = line.find('\t'); tab != std::string::npos; tab = line.find('\t', begin)) {
      columns.push_back(line.substr(begin, tab - begin));
      begin = tab + 1;
    }
    columns.push_back(line.substr(begin));
    result.push_back(std::move(columns));
  }
  return result;
}

// Every file by its path below the folder.
std::map<std::string, std::string> all_files(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder).string()] = content(entry.path());
  return files;
}

NewsroomReport generate(const NewsroomSettings& settings, const fs::path& out) {
  auto report = generate_newsroom(settings, out);
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return {};
  }
  return *report;
}

TEST(NewsroomFiles, AreTheNamesOfMindPlusDataSetAndOracle) {
  const TempFolder folder;
  generate(small_newsroom(100, 200), folder / "out");
  std::vector<std::string> names;
  for (const auto& [name, text] : all_files(folder / "out")) names.push_back(name);
  EXPECT_THAT(names, ::testing::ElementsAre("dataset.sotto", "dev/behaviors.tsv", "dev/entity_embedding.vec",
                                            "dev/news.tsv", "oracle.json", "train/behaviors.tsv",
                                            "train/entity_embedding.vec", "train/news.tsv"));
}

TEST(NewsroomFiles, AreTheSameForAnyNumberOfThreadsAndEveryRun) {
  const TempFolder folder;
  const int threads_before = thread_count();
  set_thread_count(1);
  generate(small_newsroom(600, 200), folder / "one");
  set_thread_count(3);
  generate(small_newsroom(600, 200), folder / "three");
  generate(small_newsroom(600, 200), folder / "again");
  set_thread_count(threads_before);
  const auto one = all_files(folder / "one");
  for (const char* other : {"three", "again"})
    for (const auto& [name, text] : all_files(folder / other))
      EXPECT_TRUE(one.at(name) == text) << other << ' ' << name;
}

TEST(NewsroomFiles, DifferWithTheSeed) {
  const TempFolder folder;
  generate(small_newsroom(50, 100, 1), folder / "one");
  generate(small_newsroom(50, 100, 2), folder / "two");
  const auto one = all_files(folder / "one");
  for (const auto& [name, text] : all_files(folder / "two")) EXPECT_FALSE(one.at(name) == text) << name;
}

class GeneratedNewsroom : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TempFolder;
    report_ = new NewsroomReport(generate(small_newsroom(300, 300), *folder_ / "out"));
  }
  static void TearDownTestSuite() {
    delete report_;
    delete folder_;
  }
  static fs::path out() { return *folder_ / "out"; }
  static TempFolder* folder_;
  static NewsroomReport* report_;
};
TempFolder* GeneratedNewsroom::folder_ = nullptr;
NewsroomReport* GeneratedNewsroom::report_ = nullptr;

// All that an impression says, by published ids: an import numbers users and items in an order of its own.
std::vector<std::string> told_impressions(const Dataset& dataset) {
  std::vector<std::string> told;
  const auto ids = [&](std::span<const ItemId> items) {
    std::string text;
    for (const ItemId item : items) text += std::string(dataset.catalogue().ids[item]) + " ";
    return text;
  };
  for (std::size_t i = 0; i < dataset.impression_count(); ++i) {
    const Impression one = dataset.impression(i);
    told.push_back(fmt::format("{} {} {} | {}| {}| {}", dataset.user_ids()[one.user], one.time,
                               static_cast<int>(one.split), ids(one.history), ids(one.shown),
                               fmt::join(one.clicked, " ")));
  }
  std::sort(told.begin(), told.end());
  return told;
}

std::vector<std::string> told_items(const Dataset& dataset) {
  std::vector<std::string> told;
  const Catalogue& items = dataset.catalogue();
  for (std::size_t i = 0; i < items.size(); ++i)
    told.push_back(fmt::format("{} {} {} {}", items.ids[i], items.titles[i], items.abstracts[i],
                               items.category_names[items.categories[i]]));
  std::sort(told.begin(), told.end());
  return told;
}

TEST_F(GeneratedNewsroom, ImportsWithoutAComplaintToTheSameDataSet) {
  const auto summary = import_dataset("mind", out(), *folder_ / "imported", {});
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->malformed_rows, 0U);
  EXPECT_THAT(summary->notes, ::testing::IsEmpty());
  const auto ours = Dataset::open(out());
  const auto imported = Dataset::open(*folder_ / "imported");
  ASSERT_TRUE(ours && imported);
  EXPECT_EQ(ours->name(), "newsroom");
  EXPECT_EQ(ours->item_count(), 300U);
  EXPECT_EQ(ours->user_count(), 300U);
  EXPECT_EQ(ours->counts().clicks, report_->counts.clicks);
  ASSERT_EQ(ours->impression_count(), imported->impression_count());
  EXPECT_EQ(told_impressions(*ours), told_impressions(*imported));
  EXPECT_EQ(told_items(*ours), told_items(*imported));
  EXPECT_EQ(ours->catalogue().entity_dimension, 100U);
}

TEST_F(GeneratedNewsroom, TestDayIsTheLastAndComesWithMindsDates) {
  for (const char* part : {"train", "dev"})
    for (const auto& row : rows(out() / part / "behaviors.tsv")) {
      ASSERT_EQ(row.size(), 5U);
      int month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0;
      char half[3] = "";
      // NOLINTNEXTLINE(cert-err34-c): the values are compared with the text below
      ASSERT_EQ(std::sscanf(row[2].c_str(), "%d/%d/%d %d:%d:%d %2s", &month, &day, &year, &hour, &minute,
                            &second, half),
                7);
      ASSERT_EQ(row[2],
                fmt::format("{}/{}/{} {}:{:02}:{:02} {}", month, day, year, hour, minute, second, half));
      ASSERT_TRUE(hour >= 1 && hour <= 12 && (half[0] == 'A' || half[0] == 'P')) << row[2];
      ASSERT_TRUE(month == 3 && year == 2024) << row[2];
      ASSERT_EQ(day == 10, std::string_view(part) == "dev") << row[2];
    }
}

TEST_F(GeneratedNewsroom, TrainingKnowsNoNewsOfTheTestDay) {
  const auto train = rows(out() / "train" / "news.tsv");
  const auto dev = rows(out() / "dev" / "news.tsv");
  EXPECT_LT(train.size(), dev.size());
  EXPECT_EQ(dev.size(), 300U);
}

TEST_F(GeneratedNewsroom, EntitiesStandInTheTextWhereTheColumnsSay) {
  int mentions = 0;
  for (const auto& row : rows(out() / "dev" / "news.tsv")) {
    ASSERT_EQ(row.size(), 8U);
    for (const auto& [text, entities] : {std::pair(row[3], row[6]), std::pair(row[4], row[7])})
      for (const auto& entity : nlohmann::json::parse(entities)) {
        const std::string surface = entity["SurfaceForms"][0];
        EXPECT_EQ(text.substr(entity["OccurrenceOffsets"][0], surface.size()), surface);
        EXPECT_EQ(entity["WikidataId"].get<std::string>().front(), 'Q');
        ++mentions;
      }
  }
  EXPECT_GT(mentions, 150);
}

TEST_F(GeneratedNewsroom, TitlesAreEightToFourteenWords) {
  double words = 0;
  const auto news = rows(out() / "dev" / "news.tsv");
  for (const auto& row : news) {
    const auto count = 1 + std::count(row[3].begin(), row[3].end(), ' ');
    EXPECT_GE(count, 7) << row[3];
    EXPECT_LE(count, 15) << row[3];
    words += static_cast<double>(count);
    EXPECT_GT(row[4].size(), row[3].size());
  }
  EXPECT_NEAR(words / static_cast<double>(news.size()), 10.5, 1.5);
}

TEST_F(GeneratedNewsroom, OracleIsReadBack) {
  const auto oracle = read_oracle(out());
  ASSERT_TRUE(oracle) << oracle.error().message;
  EXPECT_DOUBLE_EQ(oracle->best.auc, report_->oracle.best.auc);
  EXPECT_DOUBLE_EQ(oracle->popularity.ndcg10, report_->oracle.popularity.ndcg10);
  EXPECT_DOUBLE_EQ(oracle->share_of_attainable(oracle->best.auc), 1);
  EXPECT_DOUBLE_EQ(oracle->share_of_attainable(oracle->popularity.auc), 0);
}

TEST(NewsroomOracleFile, DamagedOrMissingIsAnError) {
  const TempFolder folder;
  EXPECT_FALSE(read_oracle(folder.path()));
  for (const char* text :
       {"", "[]", "{\"best\": 1}", "{\"best\": {\"auc\": \"high\"}}", "{\"best\": {\"auc\": 7}}"}) {
    std::ofstream(folder / "oracle.json") << text;
    const auto oracle = read_oracle(folder.path());
    ASSERT_FALSE(oracle) << text;
    EXPECT_THAT(oracle.error().message, HasSubstr("generate the newsroom again"));
  }
}

TEST(NewsroomSettingsCheck, SaysWhatToChange) {
  const TempFolder folder;
  const auto message = [&](auto change) {
    NewsroomSettings settings;
    change(settings);
    const auto report = generate_newsroom(settings, folder / "out");
    EXPECT_FALSE(fs::exists(folder / "out"));
    return report ? std::string("it was accepted") : report.error().message;
  };
  EXPECT_THAT(message([](auto& s) { s.users = 9; }), HasSubstr("users is 9: choose a value from 10"));
  EXPECT_THAT(message([](auto& s) { s.news = 49; }), HasSubstr("news is 49"));
  EXPECT_THAT(message([](auto& s) { s.days = 1; }), HasSubstr("days is 1: choose a value from 2 to 60"));
  EXPECT_THAT(message([](auto& s) { s.days = 61; }), HasSubstr("days is 61"));
  EXPECT_THAT(message([](auto& s) { s.seed = -1; }), HasSubstr("seed is -1"));
  EXPECT_THAT(message([](auto& s) { s.cold_users = 1.5; }), HasSubstr("cold_users is 1.5"));
  EXPECT_THAT(message([](auto& s) { s.interest = std::nan(""); }), HasSubstr("interest is nan"));
  EXPECT_THAT(message([](auto& s) { s.news = 100, s.days = 20; }),
              HasSubstr("at least 200 news or fewer days"));
}

TEST(NewsroomSettingsCheck, TheDocumentedTableIsTheRealOne) {
  NewsroomSettings settings;
  SettingsTable table;
  settings.bind(table);
  EXPECT_THAT(content(fs::path(SOTTO_SOURCE_DIR) / "docs" / "newsroom.md"), HasSubstr(table.to_markdown()));
}

TEST(NewsroomSettingsCheck, TheSmallestNewsroomWorks) {
  const TempFolder folder;
  NewsroomSettings settings = small_newsroom(10, 50);
  settings.days = 2;
  EXPECT_EQ(generate(settings, folder / "out").counts.users, 10U);
}

TEST(NewsroomSettingsCheck, AnExistingFolderIsReplacedOnlyOnRequest) {
  const TempFolder folder;
  fs::create_directory(folder / "out");
  std::ofstream(folder / "out/mine.txt") << "keep";
  EXPECT_FALSE(generate_newsroom(small_newsroom(10, 100), folder / "out"));
  EXPECT_EQ(content(folder / "out/mine.txt"), "keep");
  EXPECT_TRUE(generate_newsroom(small_newsroom(10, 100), folder / "out", true));
  EXPECT_FALSE(fs::exists(folder / "out/mine.txt"));
}

}  // namespace
}  // namespace sotto::data
