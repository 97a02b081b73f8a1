// The same data in another form, at import or later, for every recipe.

#include "data/views.h"

#include <gmock/gmock.h>

#include "import_fixture.h"

namespace sotto::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Views : public ImportTest {
 protected:
  // A click log with titles, as a shop has it. Without `readers` the log of the first one alone.
  void write_click_log(int readers = 6, bool backwards = false) {
    std::string titles = "sku,name\n", clicks;
    for (int item = 0; item < 30; ++item) titles += fmt::format("i{},Loaf number {}\n", item, item);
    for (int row = 0; row < readers * 7; ++row) {
      const int click = backwards ? readers * 7 - 1 - row : row;
      clicks +=
          fmt::format("r{},i{},{}\n", click / 7, (click / 7 * 5 + click % 7 * 3) % 30, 1000 + click % 7 / 2);
    }
    write("titles.csv", titles);
    write("clicks.csv", "reader,item,at\n" + clicks);
    write("mapping.toml",
          "[interactions]\nfile = \"clicks.csv\"\nuser = \"reader\"\nitem = \"item\"\ntime = \"at\"\n"
          "[items]\nfile = \"titles.csv\"\nid = \"sku\"\ntitle = \"name\"\n");
  }
  void write_impression_log() {
    write("titles.csv", "sku,name\na,Aa\nb,Bb\nc,Cc\nd,Dd\ne,Ee\n");
    write("seen.csv",
          "reader,shown,clicked,before,at\n"
          "r1,a b c,b,d,1000\n"
          "r1,a c e,a,d b,2000\n"
          "r2,a b,a,,1500\n");
    write("mapping.toml",
          "[impressions]\nfile = \"seen.csv\"\nuser = \"reader\"\nshown = \"shown\"\nclicked = \"clicked\"\n"
          "history = \"before\"\ntime = \"at\"\n[items]\nfile = \"titles.csv\"\nid = \"sku\"\ntitle = "
          "\"name\"\n");
  }
  std::string bytes_of(const fs::path& folder) {
    std::ifstream in(folder / "dataset.sotto", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string refusal(std::string_view view, const ViewSettings& settings = {}) {
    const auto made = write_view(out(), view, settings, source() / "view", false);
    EXPECT_FALSE(fs::exists(source() / "view"));
    return made ? "the view was made" : made.error().message;
  }
};

TEST_F(Views, AClickLogWithTitlesBecomesImpressionsWithTextAtImport) {
  write_click_log();
  const Dataset dataset = import("csv", {"view=text", "negatives=4"});
  EXPECT_FALSE(dataset.has_interactions());
  // Seven different items each, the first of which is history only.
  ASSERT_EQ(dataset.impression_count(), 36U);
  EXPECT_EQ(dataset.training_non_clicks(), NonClicks::public_catalogue);
  EXPECT_EQ(dataset.impression(0).shown.size(), 5U);
  EXPECT_THAT(std::string(dataset.catalogue().titles[0]), HasSubstr("Loaf number"));
}

TEST_F(Views, AViewMadeLaterIsTheOneMadeAtImport) {
  write_click_log();
  for (const std::string_view view : {"text", "impressions"}) {
    import("csv", {fmt::format("view={}", view), "negatives=4", "seed=7", "replace=true"});
    const std::string at_import = bytes_of(out());
    import("csv", {"seed=7", "replace=true"});
    ViewSettings settings;
    settings.negatives = 4;
    settings.seed = 7;
    const auto made = write_view(out(), view, settings, source() / std::string(view), false);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(bytes_of(source() / std::string(view)), at_import) << view;
  }
}

TEST_F(Views, TheOrderOfALogsRowsReachesNoByteOfAView) {
  for (const std::string_view view : {"text", "impressions"}) {
    write_click_log(6, false);
    import("csv", {fmt::format("view={}", view), "replace=true"});
    const std::string forwards = bytes_of(out());
    write_click_log(6, true);
    import("csv", {fmt::format("view={}", view), "replace=true"});
    EXPECT_EQ(bytes_of(out()), forwards) << view;
  }
}

TEST_F(Views, WhatOthersDidChangesNobodysTrainingRows) {
  const auto first_readers_rows = [&](int readers) {
    write_click_log(readers);
    const Dataset dataset = import("csv", {"view=text", "replace=true"});
    std::vector<std::vector<std::string>> rows;
    const auto [first, last] = dataset.impressions_of(row_of(dataset.user_ids(), "r0"));
    for (std::size_t row = first; row < last; ++row)
      if (dataset.impression(row).split == Split::train)
        rows.push_back(ids_of(dataset, dataset.impression(row).shown));
    return rows;
  };
  const auto alone = first_readers_rows(1);
  EXPECT_EQ(alone.size(), 5U);
  EXPECT_EQ(first_readers_rows(6), alone);
}

TEST_F(Views, TagsAreTheTextOfItemsWithoutAbstract) {
  write("things.csv", "id,kinds,shop,about\na,sweet|round,north,\nb,salty,south,Told at length\n");
  write("use.csv", "who,what\nann,a\nann,b\nbob,a\nbob,b\n");
  write(
      "mapping.toml",
      "[interactions]\nfile = \"use.csv\"\nuser = \"who\"\nitem = \"what\"\n"
      "[items]\nfile = \"things.csv\"\nid = \"id\"\ntext = \"about\"\ncategories = [\"kinds\", \"shop\"]\n");
  import("csv");
  const auto refused = write_view(out(), "text", {}, source() / "view", false);
  ASSERT_FALSE(refused) << "everybody touched everything: nothing to draw";
  write("use.csv", "who,what\nann,a\nann,b\nbob,a\n");
  write("things.csv",
        "id,kinds,shop,about\na,sweet|round,north,\nb,salty,south,Told at length\nc,bitter,north,\n");
  const Dataset dataset = import("csv", {"view=text", "replace=true"});
  const Catalogue& items = dataset.catalogue();
  EXPECT_EQ(items.abstracts[row_of(items.ids, "a")], "sweet, round");
  EXPECT_EQ(items.abstracts[row_of(items.ids, "b")], "Told at length");
  EXPECT_EQ(items.abstracts[row_of(items.ids, "c")], "bitter") << "the shop is no tag: items have one";
}

TEST_F(Views, EveryClickAndHistoryIsOneInteraction) {
  write_impression_log();
  const Dataset dataset = import("csv", {"view=interactions"});
  EXPECT_FALSE(dataset.has_impressions());
  const Interactions& rows = dataset.interactions();
  ASSERT_EQ(rows.size(), 4U);
  const UserId reader = row_of(dataset.user_ids(), "r1");
  const std::uint64_t first = rows.user_offsets[reader];
  EXPECT_THAT(ids_of(dataset, rows.items.subspan(first, 3)), ElementsAre("d", "b", "a"));
  EXPECT_EQ(rows.times[first], 0) << "only a history tells of d";
  EXPECT_EQ(rows.times[first + 1], 1000) << "a later history tells of b again";
  EXPECT_EQ(rows.times[first + 2], 2000);
  EXPECT_TRUE(std::isnan(rows.ratings[first]));
  EXPECT_EQ(dataset.catalogue().public_count(), 5U);
}

TEST_F(Views, RatingsAboveTheThresholdAreClicks) {
  write("things.csv", "id,title\na,A\nb,B\nc,C\nd,D\ne,E\n");
  write("use.csv", "who,what,points\nann,a,70\nann,b,80\nann,c,20\n");
  write("mapping.toml",
        "[interactions]\nfile = \"use.csv\"\nuser = \"who\"\nitem = \"what\"\nrating = \"points\"\n"
        "[items]\nfile = \"things.csv\"\nid = \"id\"\ntitle = \"title\"\n");
  EXPECT_EQ(import("csv", {"view=text"}).impression_count(), 2U);
  EXPECT_EQ(import("csv", {"view=text", "positive_above=50", "replace=true"}).impression_count(), 1U);
}

TEST_F(Views, WhatIsThereAlreadyIsNotMadeAgain) {
  write_impression_log();
  import("csv");
  EXPECT_THAT(refusal("text"), HasSubstr("leave out --view text"));
  EXPECT_THAT(refusal("impressions"), HasSubstr("has impressions already"));
  write_click_log();
  import("csv", {"replace=true"});
  EXPECT_THAT(refusal("interactions"), HasSubstr("leave out --view interactions"));
}

TEST_F(Views, ATextViewOfItemsWithoutTextNamesTheViewThatNeedsNone) {
  write_click_log();
  write("mapping.toml",
        "[interactions]\nfile = \"clicks.csv\"\nuser = \"reader\"\nitem = \"item\"\ntime = \"at\"\n"
        "[items]\nfile = \"titles.csv\"\nid = \"sku\"\n");
  import("csv");
  EXPECT_THAT(refusal("text"), AllOf(HasSubstr("have no text"), HasSubstr("'impressions'")));
  EXPECT_TRUE(write_view(out(), "impressions", {}, source() / "view", false));
}

TEST_F(Views, UnknownViewsAndIgnoredSettingsAreRefused) {
  write_impression_log();
  EXPECT_THAT(failure("csv", {"negatives=5"}),
              AllOf(HasSubstr("'negatives'"), HasSubstr("--view interactions|impressions|text")));
  import("csv");
  EXPECT_THAT(refusal("interaction"), HasSubstr("did you mean 'interactions'?"));
  ViewSettings settings;
  settings.sampling = "popularity";
  EXPECT_THAT(refusal("interactions", settings), HasSubstr("'sampling' = popularity"));
}

TEST_F(Views, SettingsOfASplitByTimeAreRefusedWhereNothingIsSplitByTime) {
  write_click_log();
  EXPECT_THAT(failure("csv", {"test_from=yesterday"}),
              AllOf(HasSubstr("'test_from' splits impressions by their times"), HasSubstr("describes none")));
  EXPECT_THAT(failure("csv", {"view=text", "validation_share=0.2"}), HasSubstr("'validation_share'"));
  write("seen.csv", "reader,shown,clicked,part\nr1,a b,b,train\n");
  write("mapping.toml",
        "[impressions]\nfile = \"seen.csv\"\nuser = \"reader\"\nshown = \"shown\"\nclicked = \"clicked\"\n"
        "split = \"part\"\n");
  EXPECT_THAT(failure("csv", {"test_from=none"}), HasSubstr("names a column of splits"));
}

TEST_F(Views, AnExistingFolderIsReplacedOnlyWhenAskedTo) {
  write_click_log();
  import("csv");
  ASSERT_TRUE(write_view(out(), "text", {}, source() / "view", false));
  EXPECT_FALSE(write_view(out(), "text", {}, source() / "view", false));
  EXPECT_TRUE(write_view(out(), "impressions", {}, source() / "view", true));
}

TEST_F(Views, WhatIsReadIsNeverReplaced) {
  write_click_log();
  import("csv");
  const std::string before = bytes_of(out());
  for (const fs::path& same : {out(), out() / "", out().parent_path(), out() / ".." / out().filename()}) {
    const auto made = write_view(out(), "text", {}, same, true);
    ASSERT_FALSE(made) << same;
    EXPECT_THAT(made.error().message, HasSubstr("name another folder"));
    EXPECT_EQ(bytes_of(out()), before);
  }
  ImportSettings settings;
  settings.replace = true;
  for (const fs::path& same : {source(), source().parent_path()}) {
    const auto made = import_dataset("csv", source(), same, settings);
    ASSERT_FALSE(made) << same;
    EXPECT_THAT(made.error().message, HasSubstr("name another folder"));
    EXPECT_TRUE(fs::exists(source() / "clicks.csv"));
  }
  EXPECT_TRUE(write_view(out(), "text", {}, out() / "inside", false)) << "a folder within takes nothing away";
}

}  // namespace
}  // namespace sotto::data
