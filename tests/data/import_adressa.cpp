#include <gmock/gmock.h>

#include <map>
#include <set>

#include "data/importers/adressa.h"
#include "import_fixture.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string view(std::string_view user, std::string_view article, std::int64_t time) {
  return fmt::format(
      R"({{"eventId": 1, "userId": "{}", "id": "{}", "title": "Om {}", "url": "http://example.no/{}", "time": {}, )"
      R"("activeTime": 13, "category1": "nyheter|trondheim", "keywords": "snø,ski", "sessionStart": false, )"
      R"("profile": [{{"item": "ski", "groups": [{{"group": "entity", "weight": 0.5}}]}}], )"
      R"("publishtime": "2016-12-31T22:14:26.000Z"}})"
      "\n",
      user, article, article, article, time);
}

constexpr std::int64_t first_day = 1483228800, day_seconds = 86'400;

class ImportAdressa : public ImportTest {
 protected:
  // Reader "anna" opens one article a day (d1 ... d7) and two on the last two days; 40 more articles are
  // there.
  void write_week() {
    for (int day = 1; day <= 7; ++day) {
      const std::int64_t start = first_day + (day - 1) * day_seconds;
      std::string lines = view("anna", fmt::format("d{}", day), start + 100);
      if (day >= 6) lines += view("anna", fmt::format("e{}", day), start + 200);
      for (int i = 0; i < 40 && day == 1; ++i) lines += view("crowd", fmt::format("c{}", i), start + i);
      write(fmt::format("one_week/2017010{}", day), lines);
    }
  }
  std::vector<Impression> of_user(const Dataset& dataset, std::string_view user) {
    const auto [first, last] = dataset.impressions_of(row_of(dataset.user_ids(), user));
    std::vector<Impression> impressions;
    for (std::size_t i = first; i < last; ++i) impressions.push_back(dataset.impression(i));
    return impressions;
  }
};

TEST_F(ImportAdressa, FedNewsRecTrainsOnDaySixAndTestsOnDaySevenWithFiveDaysOfHistory) {
  write_week();
  const Dataset dataset = import("adressa");
  const auto impressions = of_user(dataset, "anna");
  ASSERT_EQ(impressions.size(), 4U);
  EXPECT_EQ(dataset.impression_count(), 4U);
  for (const Impression& impression : impressions) {
    EXPECT_THAT(ids_of(dataset, impression.history), ElementsAre("d1", "d2", "d3", "d4", "d5"));
  }
  EXPECT_EQ(impressions[1].split, Split::train);
  EXPECT_EQ(impressions[2].split, Split::test);
  EXPECT_EQ(impressions[3].split, Split::test);
  ASSERT_EQ(summary.notes.size(), 3U);
  EXPECT_TRUE(has_note("only 2 of 4 impressions test"));
  EXPECT_TRUE(has_note("there is no public list of items"));
  EXPECT_TRUE(has_note("non-clicks of training rows are drawn by what all users did"));
}

TEST_F(ImportAdressa, CountsArticlesWithoutTextAndThoseThatRepeatAnother) {
  write_week();
  std::string silent = view("anna", "mute", first_day + 300), twin = view("anna", "twin", first_day + 400);
  silent.replace(silent.find("Om mute"), 7, "");
  twin.replace(twin.find("Om twin"), 7, "Om d1");
  write("one_week/20170101", view("anna", "d1", first_day + 100) + silent + twin);
  import("adressa");
  EXPECT_TRUE(has_note("1 items have neither title nor text"));
  EXPECT_TRUE(has_note("1 items have title and text of an earlier one"));
}

TEST_F(ImportAdressa, EfficientFedRecTestsWithSixDaysOfHistory) {
  write_week();
  const Dataset dataset = import("adressa", {"protocol=efficient-fedrec"});
  const auto impressions = of_user(dataset, "anna");
  EXPECT_THAT(ids_of(dataset, impressions[0].history), ElementsAre("d1", "d2", "d3", "d4", "d5"));
  EXPECT_THAT(ids_of(dataset, impressions[3].history), ElementsAre("d1", "d2", "d3", "d4", "d5", "d6", "e6"));
}

TEST_F(ImportAdressa, EfficientFedRecValidatesOnOneFifthOfTheLastDay) {
  for (int day = 1; day <= 7; ++day) {
    std::string lines;
    for (int i = 0; i < 50; ++i)
      lines += view(fmt::format("u{}", i), fmt::format("{}-{}", day, i), first_day);
    write(fmt::format("2017010{}", day), lines);
  }
  const Dataset dataset = import("adressa", {"protocol=efficient-fedrec"});
  std::map<Split, int> counts;
  for (std::size_t i = 0; i < dataset.impression_count(); ++i) ++counts[dataset.impression(i).split];
  EXPECT_EQ(counts[Split::train], 50);
  EXPECT_EQ(counts[Split::validation], 10);
  EXPECT_EQ(counts[Split::test], 40);
}

TEST_F(ImportAdressa, ShowsEachClickAmongTwentyArticlesTheReaderNeverOpened) {
  write_week();
  const Dataset dataset = import("adressa");
  std::set<std::size_t> positions;
  for (const Impression& impression : of_user(dataset, "anna")) {
    ASSERT_EQ(impression.shown.size(), 21U);
    const auto ids = ids_of(dataset, impression.shown);
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 21U);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      EXPECT_EQ(impression.clicked[i] != 0, ids[i].front() != 'c') << ids[i];
      if (impression.clicked[i] != 0) positions.insert(i);
    }
  }
  EXPECT_GT(positions.size(), 1U) << "the click must not always stand in the same place";
}

TEST_F(ImportAdressa, DrawsDependOnTheSeedAlone) {
  write_week();
  const auto shown = [&](std::string_view seed) {
    const Dataset dataset = import("adressa", {"replace=true", seed});
    return ids_of(dataset, dataset.impression(0).shown);
  };
  const auto one = shown("seed=1");
  EXPECT_EQ(one, shown("seed=1"));
  EXPECT_NE(one, shown("seed=2"));
}

TEST_F(ImportAdressa, ASmallCatalogueGivesFewerNegatives) {
  for (int day = 1; day <= 3; ++day) {
    write(fmt::format("2017010{}.json", day),
          view("anna", fmt::format("d{}", day), first_day) + view("bo", "b", 5));
  }
  const Dataset dataset = import("adressa");
  EXPECT_THAT(ids_of(dataset, of_user(dataset, "anna")[0].shown), ::testing::UnorderedElementsAre("d2", "b"));
  EXPECT_TRUE(has_note("the log has 3 days"));
}

TEST_F(ImportAdressa, TheFirstViewOfAnArticleCountsAndFrontPagesDoNot) {
  write("20170101", view("anna", "a", first_day) + view("bo", "x", 1) +
                        "{\"userId\": \"anna\", \"url\": \"http://example.no\", \"time\": 1483228800}\n");
  write("20170102", view("anna", "a", first_day + 1) + view("anna", "b", first_day + 2));
  write("20170103", view("anna", "c", first_day + 3) + view("anna", "c", first_day + 9));
  const Dataset dataset = import("adressa");
  const auto impressions = of_user(dataset, "anna");
  ASSERT_EQ(impressions.size(), 2U);
  EXPECT_THAT(ids_of(dataset, impressions[0].history), ElementsAre("a"));
  EXPECT_EQ(impressions[1].time, first_day + 3);
  EXPECT_TRUE(has_note("1 views are of front pages"));
  EXPECT_TRUE(has_note("2 views repeat an article"));
}

TEST_F(ImportAdressa, KeepsTitleCategoriesKeywordsAndPublishingTime) {
  write_week();
  const Dataset dataset = import("adressa");
  const Catalogue& items = dataset.catalogue();
  const std::uint32_t item = row_of(items.ids, "d3");
  EXPECT_EQ(items.titles[item], "Om d3");
  EXPECT_EQ(items.category_names[items.categories[item]], "nyheter");
  EXPECT_EQ(items.subcategory_names[items.subcategories[item]], "trondheim");
  EXPECT_THAT(names_of(*items.features.find_categorical("keywords"), item), ElementsAre("snø", "ski"));
  EXPECT_NEAR(items.features.find_numeric("published_day")->values[item], 1483222466 / 86'400.0, 0.01);
}

TEST_F(ImportAdressa, AFileThatIsThereTwiceIsOneDay) {
  write_week();
  write("one_week/20170103.xz", "never opened");
  EXPECT_EQ(import("adressa").impression_count(), 4U);
}

TEST_F(ImportAdressa, MalformedLinesAreCountedAndAboveTheLimitFail) {
  write_week();
  write("one_week/20170102", "{\"userId\": \"anna\", \"id\": \"q\", \"time\": \"soon\"}\nnot json\n" +
                                 view("anna", "d2", first_day + day_seconds));
  EXPECT_EQ(import("adressa", {"malformed_limit=0.1"}).impression_count(), 4U);
  EXPECT_EQ(summary.malformed_rows, 2U);
  fs::remove_all(out());
  EXPECT_THAT(failure("adressa"), HasSubstr("20170102:1: no time"));
}

TEST_F(ImportAdressa, ReadsItsNewsInMindFormat) {
  write("news.tsv", "N1\tnyheter\tnyheter\tSnø i byen\t\thttp://example.no/1\t[]\t[]\n");
  const Dataset dataset = import("adressa");
  EXPECT_EQ(dataset.name(), "Adressa");
  EXPECT_EQ(dataset.item_count(), 1U);
  EXPECT_EQ(dataset.impression_count(), 0U);
  EXPECT_TRUE(has_note("no behaviors.tsv"));
}

TEST_F(ImportAdressa, TwoDaysAreNotALog) {
  write("20170101", view("anna", "a", first_day));
  write("20170102", view("anna", "b", first_day));
  write("20171301", "not a date");
  EXPECT_THAT(failure("adressa"), HasSubstr("expected one JSON-lines file per day"));
}

TEST(AdressaLine, NeedsAnArticleAUserAndATime) {
  EXPECT_FALSE(parse_adressa_line("[]"));
  EXPECT_FALSE(parse_adressa_line(R"({"id": "a", "time": 5})"));
  EXPECT_FALSE(parse_adressa_line(R"({"id": "a", "userId": "u"})"));
  EXPECT_FALSE(parse_adressa_line(R"({"id": "a", "userId": "u", "time": 1e300})"));
  const auto front_page = parse_adressa_line(R"({"profile": [{"id": "nested"}], "id": null})");
  ASSERT_TRUE(front_page);
  EXPECT_FALSE(*front_page);
}

}  // namespace
}  // namespace sotto::data
