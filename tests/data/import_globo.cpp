#include <gmock/gmock.h>

#include "import_fixture.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string header =
    "user_id,session_id,session_start,session_size,click_article_id,click_timestamp,click_environment,"
    "click_deviceGroup,click_os,click_country,click_region,click_referrer_type\n";

class ImportGlobo : public ImportTest {};

TEST_F(ImportGlobo, ReadsClicksWithSecondsContextAndSessionsNumberedPerUser) {
  write("clicks_hour_000.csv", header +
                                   "5,900,900000,2,30,1506826828999,4,3,20,1,20,2\n"
                                   "5,900,900000,2,31,1506826858020,4,3,20,1,20,2\n"
                                   "6,901,900001,1,30,1506826868020,4,1,17,1,16,1\n");
  write("clicks_hour_001.csv", header + "5,902,900003,1,32,1506826998020,2,1,2,1,16,1\n");
  write("clicks_sample.csv", header + "9,1,1,1,9,9,9,9,9,9,9,9\n");
  const Dataset dataset = import("globo");
  const Interactions& rows = dataset.interactions();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(dataset.user_count(), 2U);
  EXPECT_EQ(rows.times[0], 1506826828);
  const CategoricalFeature& session = *rows.context.find_categorical("session");
  EXPECT_THAT(names_of(session, 0), ElementsAre("0"));
  EXPECT_THAT(names_of(session, 1), ElementsAre("0"));
  EXPECT_THAT(names_of(session, 2), ElementsAre("1"));
  EXPECT_THAT(names_of(session, 3), ElementsAre("0"));
  EXPECT_THAT(names_of(*rows.context.find_categorical("device"), 2), ElementsAre("1"));
  EXPECT_THAT(names_of(*rows.context.find_categorical("region"), 0), ElementsAre("20"));
}

TEST_F(ImportGlobo, FindsTheClicksFolderAndArticleData) {
  write("clicks/clicks_hour_000.csv", header + "5,900,900000,2,30,1506826828999,4,3,20,1,20,2\n");
  write("articles_metadata.csv",
        "article_id,category_id,created_at_ts,publisher_id,words_count\n30,7,1513144419000,0,168\n31,8,1,2,"
        "90\n");
  const Dataset dataset = import("globo");
  const Catalogue& items = dataset.catalogue();
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items.category_names[items.categories[0]], "7");
  EXPECT_EQ(items.features.find_numeric("words")->values[1], 90);
  EXPECT_THAT(names_of(*items.features.find_categorical("publisher"), 1), ElementsAre("2"));
}

TEST_F(ImportGlobo, CountsMalformedRows) {
  write("clicks.csv", header +
                          "5,900,900000,2,30,1506826828999,4,3,20,1,20\n"
                          "x,900,900000,2,30,1506826828999,4,3,20,1,20,2\n"
                          "5,900,900000,2,30,late,4,3,20,1,20,2\n"
                          "5,900,900000,2,30,1506826828999,4,3,20,1,20,2\n");
  EXPECT_EQ(import("globo", {"malformed_limit=0.8"}).interactions().size(), 1U);
  EXPECT_EQ(summary.malformed_rows, 3U);
}

TEST_F(ImportGlobo, SaysWhatItExpected) {
  EXPECT_THAT(failure("globo"), HasSubstr("expected a clicks csv file"));
  write("clicks.csv", "user_id,session\n");
  EXPECT_THAT(failure("globo"), HasSubstr("there is no column 'session_id'"));
  write("clicks.csv", "");
  EXPECT_THAT(failure("globo"), HasSubstr("the file is empty"));
}

}  // namespace
}  // namespace sotto::data
