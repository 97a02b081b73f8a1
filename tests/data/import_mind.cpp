#include <gmock/gmock.h>

#include <algorithm>

#include "data/importers/mind_files.h"
#include "import_fixture.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string news_a =
    "N1\tsports\tfootball\tA goal in the rain\tNobody saw it coming.\thttps://example.org/1\t"
    "[{\"Label\": \"Rain\", \"Type\": \"C\", \"WikidataId\": \"Q7925\", \"SurfaceForms\": [\"rain\"]}]\t[]\n";
const std::string news_b = "N2\tfood\tsoup\tLeek \"and\" potato\t\thttps://example.org/2\t[]\t[]\n";
const std::string news_c =
    "N3\tnews\tworld\tBridge opens\tTwo years late.\thttps://example.org/3\t\t"
    "[{\"WikidataId\": \"Q12280\", \"Label\": \"bridge\"}, {\"WikidataId\": \"Q7925\", \"Label\": "
    "\"Rain\"}]\n";

class ImportMind : public ImportTest {
 protected:
  void write_flat(std::string_view behaviors) {
    write("news.tsv", news_a + news_b + news_c);
    write("behaviors.tsv", behaviors);
  }
};

TEST_F(ImportMind, ReadsNewsBehaviorsAndEntities) {
  write_flat(
      "1\tU1\t11/11/2019 9:05:58 AM\tN3 N1\tN2-1 N1-0\n"
      "2\tU2\t11/12/2019 2:14:46 PM\t\tN3-0 N2-0 N1-1\n");
  write("entity_embedding.vec", "Q7925\t0.5\t-1\t\nQ12280\t2\t3e-1\t\nQ999\t1\t1\t\n");
  const Dataset dataset = import("mind");
  const Catalogue& items = dataset.catalogue();
  EXPECT_EQ(dataset.name(), "MIND");
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items.titles[1], "Leek \"and\" potato");
  EXPECT_EQ(items.abstracts[0], "Nobody saw it coming.");
  EXPECT_EQ(items.category_names[items.categories[2]], "news");
  EXPECT_EQ(items.subcategory_names[items.subcategories[0]], "football");
  ASSERT_EQ(items.abstract_entities[2].size(), 2U);
  const std::size_t rain = items.title_entities[0][0];
  EXPECT_EQ(items.entity_ids[rain], "Q7925");
  EXPECT_EQ(items.entity_labels[rain], "Rain");
  ASSERT_EQ(items.entity_dimension, 2U);
  EXPECT_EQ(items.entity_vectors[2 * rain], 0.5F);
  EXPECT_EQ(items.entity_vectors[2 * rain + 1], -1.0F);

  ASSERT_EQ(dataset.impression_count(), 2U);
  const Impression first = dataset.impression(0);
  EXPECT_EQ(dataset.user_ids()[first.user], "U1");
  EXPECT_EQ(first.time, 1573463158);
  EXPECT_THAT(ids_of(dataset, first.history), ElementsAre("N3", "N1"));
  EXPECT_THAT(ids_of(dataset, first.shown), ElementsAre("N2", "N1"));
  EXPECT_THAT(first.clicked, ElementsAre(1, 0));
  EXPECT_THAT(dataset.impression(1).history, IsEmpty());
  EXPECT_EQ(summary.counts.clicks, 2U);
  EXPECT_EQ(summary.malformed_rows, 0U);
}

TEST_F(ImportMind, AFlatFolderTestsOnItsLastDayUnlessToldOtherwise) {
  const std::string rows =
      "1\tU1\t11/11/2019 9:05:58 AM\tN1\tN2-1\n"
      "2\tU1\t11/12/2019 12:00:00 AM\tN1\tN3-1\n";
  write_flat(rows);
  const Dataset by_day = import("mind");
  EXPECT_EQ(by_day.impression(0).split, Split::train);
  EXPECT_EQ(by_day.impression(1).split, Split::test);
  const Dataset all_train = import("mind", {"test_from=none", "replace=true"});
  EXPECT_EQ(all_train.impression(1).split, Split::train);
  EXPECT_THAT(all_train.origin(), HasSubstr("test_from=none"));
}

TEST_F(ImportMind, ReadsThePublishedPartsAndTestsOnDev) {
  write("MINDsmall_train/news.tsv", news_a + news_b);
  write("MINDsmall_train/behaviors.tsv",
        "1\tU1\t11/11/2019 9:05:58 AM\t\tN2-1\n2\tU1\t11/12/2019 9:05:58 AM\tN2\tN1-1 N2-0\n");
  write("MINDsmall_dev/news.tsv", news_b + news_c);
  write("MINDsmall_dev/behaviors.tsv", "1\tU2\t11/15/2019 9:05:58 AM\tN1\tN3-1 N2-0\n");
  const Dataset dataset = import("mind", {"validation_share=0.5"});
  EXPECT_EQ(dataset.item_count(), 3U);
  EXPECT_EQ(dataset.impression(0).split, Split::train);
  EXPECT_EQ(dataset.impression(1).split, Split::validation);
  EXPECT_EQ(dataset.impression(2).split, Split::test);
}

TEST_F(ImportMind, DevValidatesWhenATestPartHasLabels) {
  for (const char* part : {"train", "dev", "test"}) {
    write(std::string(part) + "/news.tsv", news_a + news_b);
    write(std::string(part) + "/behaviors.tsv",
          std::string("1\tU-") + part + "\t11/11/2019 9:05:58 AM\t\tN2-1 N1-0\n");
  }
  const Dataset dataset = import("mind");
  const auto split_of = [&](std::string_view user) {
    return dataset.impression(dataset.impressions_of(row_of(dataset.user_ids(), user)).first).split;
  };
  EXPECT_EQ(split_of("U-train"), Split::train);
  EXPECT_EQ(split_of("U-dev"), Split::validation);
  EXPECT_EQ(split_of("U-test"), Split::test);
}

TEST_F(ImportMind, LeavesOutImpressionsWithoutLabelsAndSaysSo) {
  for (const char* part : {"train", "dev"}) {
    write(std::string(part) + "/news.tsv", news_a + news_b);
    write(std::string(part) + "/behaviors.tsv", "1\tU1\t11/11/2019 9:05:58 AM\t\tN2-1 N1-0\n");
  }
  write("test/news.tsv", news_c);
  write("test/behaviors.tsv", "1\tU9\t11/21/2019 9:05:58 AM\tN1\tN3 N2\n");
  const Dataset dataset = import("mind");
  EXPECT_EQ(dataset.impression_count(), 2U);
  EXPECT_EQ(dataset.impression(1).split, Split::test);
  EXPECT_TRUE(has_note("1 impressions carry no labels"));
}

TEST_F(ImportMind, KeepsItemsWithoutANewsRowAndSaysSo) {
  write_flat("1\tU1\t11/11/2019 9:05:58 AM\tN77\tN2-1 N88-0\n");
  const Dataset dataset = import("mind");
  EXPECT_EQ(dataset.item_count(), 5U);
  EXPECT_EQ(dataset.catalogue().titles[row_of(dataset.catalogue().ids, "N88")], "");
  EXPECT_TRUE(has_note("2 items have no row"));
}

TEST_F(ImportMind, CountsItemsWithoutTextAndThoseThatRepeatAnother) {
  write("news.tsv", news_a + "N8\tsports\tfootball\t\t\turl\t[]\t[]\n" +
                        "N9\tnews\tworld\tA goal in the rain\tNobody saw it coming.\turl\t[]\t[]\n");
  write("behaviors.tsv", "1\tU1\t11/11/2019 9:05:58 AM\t\tN1-1 N8-0\n");
  import("mind");
  EXPECT_TRUE(has_note("1 items have neither title nor text"));
  EXPECT_TRUE(has_note("1 items have title and text of an earlier one ('N9' says what 'N1' says)"));
}

TEST_F(ImportMind, TheFirstOfTwoDifferingRowsOfAnItemWins) {
  write_flat("1\tU1\t11/11/2019 9:05:58 AM\t\tN2-1\n");
  write("news_more.tsv", "N2\tfood\tsoup\tAnother title\tand text\turl\t[]\t[]\n" + news_a);
  const Dataset dataset = import("mind");
  EXPECT_EQ(dataset.catalogue().titles[1], "Leek \"and\" potato");
  EXPECT_EQ(dataset.catalogue().abstracts[1], "");
  EXPECT_TRUE(has_note("1 news rows differ"));
}

TEST_F(ImportMind, StoresARepeatedHistoryOnce) {
  std::string rows;
  for (int i = 0; i < 100; ++i) rows += "1\tU1\t11/11/2019 9:05:58 AM\tN1 N2 N3\tN2-1 N1-0\n";
  write_flat(rows);
  const Dataset dataset = import("mind");
  ASSERT_EQ(dataset.impression_count(), 100U);
  EXPECT_EQ(dataset.impression(0).history.data(), dataset.impression(99).history.data());
}

TEST_F(ImportMind, LeavesOutMalformedRowsWithFileLineAndReason) {
  std::string rows =
      "1\tU1\t11/31/2019 9:05:58 AM\t\tN2-1\n"
      "2\tU1\t11/11/2019 9:05:58 AM\tN2-1\n"
      "3\t\t11/11/2019 9:05:58 AM\t\tN2-1\n"
      "4\tU1\t11/11/2019 9:05:58 AM\t\tN2-1 N1\n"
      "5\tU1\t11/11/2019 9:05:58 AM\t\t\n"
      "6\tU1\t11/11/2019 9:05:58 AM\tN1\xFF\tN2-1\n";
  for (int i = 0; i < 594; ++i) rows += "7\tU1\t11/11/2019 9:05:58 AM\t\tN2-1\n";
  write_flat(rows);
  const Dataset dataset = import("mind", {"malformed_limit=0.02"});
  EXPECT_EQ(dataset.impression_count(), 594U);
  EXPECT_EQ(summary.rows, 603U);
  EXPECT_EQ(summary.malformed_rows, 6U);
  ASSERT_EQ(summary.malformed_examples.size(), 5U);
  EXPECT_THAT(summary.malformed_examples[0], HasSubstr("behaviors.tsv:1: the time"));
  EXPECT_THAT(summary.malformed_examples[1], HasSubstr("behaviors.tsv:2: 4 fields instead of 5"));
  EXPECT_THAT(summary.malformed_examples[3], HasSubstr("behaviors.tsv:4: the candidates"));
}

TEST_F(ImportMind, MalformedNewsAndVectorsAreCountedToo) {
  write_flat("1\tU1\t11/11/2019 9:05:58 AM\t\tN2-1\n");
  write("news_more.tsv",
        "N4\ta\tb\tc\td\te\t[{]\t[]\nN5\ta\tb\tc\td\te\t[]\t{}\nN 6\ta\tb\tc\td\te\t[]\t[]\n"
        "N7\ta\tb\tc\td\te\t[{\"Label\": \"no id\"}]\t[]\n");
  write("entity_embedding.vec", "Q7925\t1\t2\nQ12280\t1\nQ1\tx\ty\nQ2\n\t1\t2\nQ3\t1\tinf\n");
  const Dataset dataset = import("mind", {"malformed_limit=1"});
  EXPECT_EQ(dataset.item_count(), 3U);
  EXPECT_EQ(summary.malformed_rows, 9U);
}

TEST_F(ImportMind, FailsAboveTheLimitAndLeavesNothingBehind) {
  write_flat("1\tU1\tnever\t\tN2-1\n2\tU1\t11/11/2019 9:05:58 AM\t\tN2-1\n");
  const std::string message = failure("mind");
  EXPECT_THAT(message, HasSubstr("1 of 5 rows are malformed"));
  EXPECT_THAT(message, HasSubstr("behaviors.tsv:1: the time is not like"));
}

TEST_F(ImportMind, SaysWhichFilesItExpectedAndFound) {
  write("news.csv", "x");
  const std::string message = failure("mind");
  EXPECT_THAT(message, HasSubstr("expected news.tsv and behaviors.tsv"));
  EXPECT_THAT(message, HasSubstr("found news.csv"));
  write("news.tsv", news_a);
  EXPECT_THAT(failure("mind"), HasSubstr("found news.csv, news.tsv"));
}

TEST(MindCandidates, AreLabelledUnlabelledOrMalformed) {
  std::vector<std::string_view> ids;
  std::vector<std::uint8_t> clicked;
  EXPECT_EQ(parse_candidates("N1-0 a-b-1", ids, clicked), CandidateLabels::labelled);
  EXPECT_THAT(ids, ElementsAre("N1", "a-b"));
  EXPECT_THAT(clicked, ElementsAre(0, 1));
  EXPECT_EQ(parse_candidates("N1 N2", ids, clicked), CandidateLabels::unlabelled);
  EXPECT_EQ(parse_candidates("N1-0 N2", ids, clicked), CandidateLabels::malformed);
  EXPECT_EQ(parse_candidates("N1-2 N2-1", ids, clicked), CandidateLabels::malformed);
  EXPECT_EQ(parse_candidates(" ", ids, clicked), CandidateLabels::malformed);
}

}  // namespace
}  // namespace sotto::data
