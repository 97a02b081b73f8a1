// A folder of live items belongs to what it was filled with: by content, never by the name of a data set.

#include "cli/pool_items.h"

#include <gmock/gmock.h>

#include "data/dataset_builder.h"
#include "data/fingerprint.h"
#include "test_paths.h"

namespace sotto::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Shop {
  std::string words = "loaf";  // of every title; empty: items have none
  int first = 0, items = 40;
  int clicks = 1;  // what users did, which is no matter of the items
};

class PoolOfItems : public ::testing::Test {
 protected:
  // Every shop has the name that an import gives without asking, and numbers for ids.
  ServedData data(const std::string& place, const Shop& shop) {
    data::DatasetBuilder builder("csv", "test");
    for (int i = shop.first; i < shop.first + shop.items; ++i)
      builder.add_item({.id = std::to_string(i),
                        .title = shop.words.empty() ? "" : shop.words + " " + std::to_string(i % 7),
                        .category = "all"});
    for (int click = 0; click < shop.clicks; ++click)
      builder.add_interaction(builder.user("u"), builder.item(std::to_string(shop.first)), 1.0F, click);
    fs::create_directories(folder_ / place);
    EXPECT_TRUE(builder.write(folder_ / place));
    const auto dataset = data::Dataset::open(folder_ / place).value();
    return {std::string(dataset.name()), data::fingerprint(dataset), folder_ / place};
  }
  fs::path pool() const { return folder_ / "pool"; }
  // As a server does that comes to serve it; what it says, if it refuses.
  std::string serve(const ServedData& data, bool same_items = false) {
    auto items = PoolItems::open(pool(), same_items);
    if (!items) return items.error().message;
    if (const auto accepted = items->accept(data); !accepted) return accepted.error().message;
    fs::create_directories(pool());
    EXPECT_TRUE(write_file_atomically(pool() / "catalogue-1.log", "items"));
    EXPECT_TRUE(items->note(true));
    return "";
  }
  std::string note() { return read_file(pool() / "items.json").value(); }

  TempFolder folder_;
};

TEST_F(PoolOfItems, AnotherShopIsRefusedThoughItsDataHasTheSameNameAndIds) {
  ASSERT_EQ(serve(data("bakery", {.words = "loaf"})), "");
  const std::string before = note();
  EXPECT_THAT(
      serve(data("cobbler", {.words = "boot"})),
      AllOf(HasSubstr("knows 0 of 40 of them"), HasSubstr("another --catalogue"), HasSubstr("'csv'")));
  EXPECT_EQ(note(), before) << "a refusal changes nothing";
  EXPECT_EQ(serve(data("cobbler", {.words = "boot"}), true), "") << "on the operator's word";
  EXPECT_EQ(serve(data("cobbler", {.words = "boot"})), "") << "which was noted";
}

TEST_F(PoolOfItems, TheSameDataIsServedFromEverywhereAndWithoutLookingAtIt) {
  ServedData bakery = data("bakery", {});
  ASSERT_EQ(serve(bakery), "");
  bakery.folder = folder_ / "gone", bakery.name = "renamed";
  EXPECT_EQ(serve(bakery), "");
}

TEST_F(PoolOfItems, LaterDataOfTheSameShopIsServed) {
  ASSERT_EQ(serve(data("january", {})), "");
  EXPECT_EQ(serve(data("more-clicks", {.clicks = 5})), "");
  EXPECT_EQ(serve(data("grown", {.items = 400})), "");
  EXPECT_EQ(serve(data("moved-on", {.first = 200, .items = 400})), "") << "half of the items have left";
  EXPECT_THAT(serve(data("long-after", {.first = 5000})), HasSubstr("knows 0 of 256"));
}

TEST_F(PoolOfItems, ItemsWithoutWordsAreNoEvidence) {
  ASSERT_EQ(serve(data("numbers", {.words = ""})), "");
  const ServedData others = data("others", {.words = "", .clicks = 9});
  EXPECT_THAT(serve(others), AllOf(HasSubstr("no words to compare"), HasSubstr("--same-items")));
  EXPECT_EQ(serve(others, true), "");
}

TEST_F(PoolOfItems, MadeUpItemsAreNobodys) {
  ASSERT_EQ(serve(made_up_data()), "");
  EXPECT_EQ(serve(made_up_data()), "");
  EXPECT_THAT(serve(data("bakery", {})), HasSubstr("made-up items"));
}

TEST_F(PoolOfItems, AServerKilledBeforeItFilledThePoolHasTakenNothing) {
  fs::create_directories(pool());
  {
    auto items = PoolItems::open(pool(), false).value();
    ASSERT_TRUE(items.accept(data("bakery", {})));
    ASSERT_TRUE(items.note(false));
  }
  EXPECT_EQ(serve(data("cobbler", {.words = "boot"})), "");
}

TEST_F(PoolOfItems, AFillingThatWasCutShortIsTakenUpAgain) {
  fs::create_directories(pool());
  const ServedData bakery = data("bakery", {});
  {
    auto items = PoolItems::open(pool(), false).value();
    ASSERT_TRUE(items.accept(bakery));
    ASSERT_TRUE(items.note(false));
    ASSERT_TRUE(write_file_atomically(pool() / "catalogue-1.log", "some items"));
  }
  EXPECT_FALSE(PoolItems::open(pool(), false)->filled());
  EXPECT_THAT(serve(data("cobbler", {.words = "boot"})), HasSubstr("another --catalogue"));
  EXPECT_EQ(serve(bakery), "");
  EXPECT_TRUE(PoolItems::open(pool(), false)->filled());
}

TEST_F(PoolOfItems, ADamagedNoteIsRefusedWithWhatToDo) {
  ASSERT_EQ(serve(data("bakery", {})), "");
  for (const char* text :
       {"", "[]", "{}", R"({"dataset": "csv", "fingerprint": "0", "marks": [-1], "filled": true})"}) {
    ASSERT_TRUE(write_file_atomically(pool() / "items.json", text));
    EXPECT_THAT(serve(data("bakery", {})), HasSubstr("remove this file")) << text;
  }
}

}  // namespace
}  // namespace sotto::cli
