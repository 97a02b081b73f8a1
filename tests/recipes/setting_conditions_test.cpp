// A setting that another one leaves without effect is refused, and the message says where it works.

#include "recipes/setting_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "recipes/recipe.h"

namespace sotto::recipes {
namespace {

using ::testing::HasSubstr;

// What is said about a recipe's settings; empty: nothing is refused.
std::string said(const char* recipe, const std::vector<std::string>& assignments) {
  const auto made = find_recipe(recipe).value()->make();
  SettingsTable table;
  EXPECT_TRUE(bind_settings(*made, table, assignments));
  for (const auto& assignment : assignments) EXPECT_TRUE(table.set_assignment(assignment)) << assignment;
  const Status refused = refuse_unread(table, made->conditions());
  return refused ? "" : refused.error().message;
}

TEST(SettingConditions, NameTheModeInWhichASettingWorks) {
  EXPECT_THAT(said("fednewsrec", {"local_epochs=2"}),
              HasSubstr("local_epochs has no effect with mode=sound: it "
                        "works with mode=paper"));
  EXPECT_THAT(said("privaterec", {"local_epochs=2"}), HasSubstr("it works with mode=paper"));
  EXPECT_THAT(said("efficient-fedrec", {"largest_update=3"}), HasSubstr("it works with mode=paper"));
  EXPECT_THAT(said("efficient-fedrec", {"compress=true"}), HasSubstr("it works with mode=paper"));
  EXPECT_THAT(said("fednewsrec", {"mode=paper", "epsilon=8"}), HasSubstr("it works with mode=sound"));
  EXPECT_EQ(said("fednewsrec", {"mode=paper", "local_epochs=2", "local_batch=3"}), "");
}

TEST(SettingConditions, NameTheOtherSettingThatIsMissing) {
  EXPECT_THAT(said("fedrec", {"momentum=0.5"}), HasSubstr("it works with optimiser=sgd"));
  EXPECT_EQ(said("fedrec", {"momentum=0.5", "optimiser=sgd"}), "");
  EXPECT_THAT(said("fedrec", {"optimiser=fedavg", "learning_rate=3"}),
              HasSubstr("it works with optimiser=sgd or optimiser=fedadam or optimiser=adam"));
  EXPECT_THAT(said("fedrec", {"patience=2", "validation_impressions=0"}),
              HasSubstr("it works where validation_impressions is set"));
}

TEST(SettingConditions, SettingsAtTheirDefaultsAreNeverRefused) {
  for (const auto& entry : recipes())
    for (const char* mode : {"mode=sound", "mode=paper"}) {
      const auto made = entry.make();
      SettingsTable table;
      ASSERT_TRUE(bind_settings(*made, table, {mode}));
      const Status refused = refuse_unread(table, made->conditions());
      EXPECT_TRUE(refused) << entry.name << " " << mode << ": " << refused.error().message;
    }
}

TEST(SettingConditions, ASettingThatIsNotThereIsAnError) {
  SettingsTable table;
  bool there = false;
  table.add("there", there, "A setting");
  EXPECT_TRUE(refuse_unread(table, {{"there", "there", {}}}));
  EXPECT_THAT(refuse_unread(table, {{"there", "ther", {}}}).error().message, HasSubstr("no setting ther"));
  EXPECT_THAT(refuse_unread(table, {{"tere", "there", {}}}).error().message, HasSubstr("no setting tere"));
}

// A key that was renamed in its part would otherwise be skipped everywhere.
TEST(SettingConditions, EveryConditionOfASharedPartIsReadBySomeRecipe) {
  std::set<std::pair<std::string, std::string>> together;
  for (const auto& entry : recipes())
    for (const char* chosen :
         {"mode=sound", "mode=paper", "model=plm-nr"}) {  // some settings come with these
      const auto made = entry.make();
      SettingsTable table;
      if (!bind_settings(*made, table, {chosen})) continue;  // has no such choice
      for (const auto& a : table.rows())
        for (const auto& b : table.rows()) together.emplace(a.name, b.name);
    }
  for (const auto& condition : conditions_of_shared_parts())
    EXPECT_TRUE(together.contains({condition.setting, condition.other})) << condition.setting;
}

TEST(SettingConditions, TheModeChoosesThePapersDefaults) {
  const auto made = find_recipe("efficient-fedrec").value()->make();
  SettingsTable table;
  ASSERT_TRUE(bind_settings(*made, table, {"mode=paper"}));
  for (const auto& row : table.rows()) {
    if (row.name == "second_moment") {
      EXPECT_EQ(row.value, "paper") << "Eqs. 5 and 7 have the square of m";
    } else if (row.name == "learning_rate" || row.name == "news_learning_rate") {
      EXPECT_EQ(std::stod(row.value), 5e-5);
    } else if (row.name == "compress") {
      EXPECT_EQ(row.value, "false");
    }
  }
}

}  // namespace
}  // namespace sotto::recipes
