// Titles from a file: parsing, themes found in the text, and the newsroom built on them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include "base/distributions.h"
#include "data/newsroom/headlines.h"
#include "newsroom_fixture.h"
#include "test_paths.h"

namespace sotto::data::newsroom {
namespace {

using ::testing::HasSubstr;

class NewsroomHeadlines : public ::testing::Test {
 protected:
  fs::path write(std::string_view text) {
    std::ofstream(folder_ / "headlines.txt", std::ios::binary) << text;
    return folder_ / "headlines.txt";
  }
  TempFolder folder_;
};

// Headlines of three categories with two hidden themes each, of which every headline uses words of one.
struct Planted {
  std::vector<std::string> titles;
  std::vector<std::uint32_t> category_of, theme_of;
};
Planted plant(std::size_t count) {
  static constexpr const char* words[6][4] = {
      {"goal", "keeper", "derby", "penalty"},  {"serve", "racket", "umpire", "volley"},
      {"senate", "ballot", "caucus", "veto"},  {"mayor", "zoning", "borough", "permit"},
      {"dough", "oven", "frosting", "pastry"}, {"grape", "cellar", "cork", "vineyard"}};
  SeededRandom random(4, Purpose::test);
  Planted planted;
  for (std::size_t i = 0; i < count; ++i) {
    const auto theme = static_cast<std::uint32_t>(uniform_below(random, 6));
    std::string title = "the";
    for (int k = 0; k < 3; ++k) title += std::string(" ") + words[theme][uniform_below(random, 4)] + " about";
    planted.titles.push_back(title);
    planted.category_of.push_back(theme / 2);
    planted.theme_of.push_back(theme);
  }
  return planted;
}

TEST_F(NewsroomHeadlines, AllThreeFormsAreRead) {
  const auto headlines =
      read_headlines(write("{\"raw\": \"a goal\\tin the rain\", \"label\": 7}\n"
                           "{\"raw\": \"soup\", \"label\": \"food\"}\n\n"
                           "world\ttalks  go on \n"
                           "just a line\n"));
  ASSERT_TRUE(headlines) << headlines.error().message;
  ASSERT_EQ(headlines->size(), 4U);
  EXPECT_EQ((*headlines)[0].category, "category7");
  EXPECT_EQ((*headlines)[0].title, "a goal in the rain");
  EXPECT_EQ((*headlines)[1].category, "food");
  EXPECT_EQ((*headlines)[2].category, "world");
  EXPECT_EQ((*headlines)[2].title, "talks go on");
  EXPECT_EQ((*headlines)[3].category, "news");
}

TEST_F(NewsroomHeadlines, MalformedLinesAreNamed) {
  for (const char* line : {"{\"raw\": 5, \"label\": 1}", "{\"raw\": \"x\"}", "{broken", "\tno category",
                           "sports\t ", "\xff\xfe not text"}) {
    const auto headlines = read_headlines(write(std::string("fine\n") + line + "\n"));
    ASSERT_FALSE(headlines) << line;
    EXPECT_THAT(headlines.error().message, HasSubstr("headlines.txt:2"));
  }
}

TEST_F(NewsroomHeadlines, TooFewHeadlinesSayHowManyThereAre) {
  NewsroomSettings settings = small_newsroom(50, 100);
  settings.headlines = write("one\ntwo\n").string();
  const auto world = build_world(settings);
  ASSERT_FALSE(world);
  EXPECT_THAT(world.error().message, HasSubstr("2 headlines but 100 news"));
  settings.headlines = (folder_ / "missing.txt").string();
  EXPECT_FALSE(build_world(settings));
}

TEST(NewsroomHeadlineThemes, GroupHeadlinesByTheWordsTheyShare) {
  const Planted planted = plant(600);
  const FoundThemes found = find_themes(planted.titles, planted.category_of, 3, 1);
  ASSERT_EQ(found.mixes.size(), 600U);
  // A found theme holds headlines of one hidden theme, nearly always.
  std::vector<std::vector<int>> together(found.themes.size(), std::vector<int>(6, 0));
  for (std::size_t i = 0; i < 600; ++i) {
    ASSERT_EQ(found.themes[found.mixes[i].primary].category, planted.category_of[i]);
    ++together[found.mixes[i].primary][planted.theme_of[i]];
  }
  int agreeing = 0;
  for (const auto& counts : together) agreeing += *std::max_element(counts.begin(), counts.end());
  EXPECT_GT(agreeing, 540);
}

TEST(NewsroomHeadlineThemes, TextWithoutSharedWordsStillGetsThemes) {
  const std::vector<std::string> titles{"alpha", "beta", "!", ""};
  const std::vector<std::uint32_t> category_of{0, 0, 1, 1};
  const FoundThemes found = find_themes(titles, category_of, 2, 1);
  for (std::size_t i = 0; i < titles.size(); ++i)
    EXPECT_EQ(found.themes[found.mixes[i].primary].category, category_of[i]);
}

TEST_F(NewsroomHeadlines, ANewsroomOfPlantedHeadlinesIsReadable) {
  const Planted planted = plant(1'200);
  std::string text;
  for (std::size_t i = 0; i < planted.titles.size(); ++i)
    text += "desk" + std::to_string(planted.category_of[i]) + "\t" + planted.titles[i] + "\n";
  NewsroomSettings settings = small_newsroom(1'000, 1'000);
  settings.headlines = write(text).string();
  const Simulated newsroom = simulate(settings);
  const std::set<std::string> given(planted.titles.begin(), planted.titles.end());
  for (const ItemText& item : newsroom.world.texts) {
    EXPECT_TRUE(given.contains(item.title)) << item.title;
    EXPECT_FALSE(item.abstract.empty());
  }
  EXPECT_GT(newsroom.oracle.best.auc, newsroom.oracle.popularity.auc + 0.1);
  EXPECT_GT(newsroom.oracle.history.auc, newsroom.oracle.popularity.auc + 0.05);
}

TEST_F(NewsroomHeadlines, RealHeadlinesKeepTheDifficulty) {
  const auto data = shared_data_directory();
  if (!data) GTEST_SKIP() << "no real data: set SOTTO_DATA";
  NewsroomSettings settings = small_newsroom(1'500, 3'000);
  settings.headlines = (*data / "headlines" / "huffpost_36900.jsonl.xz").string();
  const Simulated newsroom = simulate(settings);
  EXPECT_GT(newsroom.oracle.best.auc, 0.72);
  EXPECT_LT(newsroom.oracle.popularity.auc, 0.60);
  EXPECT_GT(newsroom.oracle.share_of_attainable(newsroom.oracle.history.auc), 0.6);
  EXPECT_GE(newsroom.shape.unseen_share, 0.25);
}

}  // namespace
}  // namespace sotto::data::newsroom
