#include <gmock/gmock.h>

#include "device/history/history_store.h"
#include "device/small_pack.h"
#include "test_paths.h"

namespace sotto::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

privacy::UtcTime second(int number) { return privacy::UtcTime(std::chrono::seconds(1'700'000'000 + number)); }

std::vector<std::string> items_of(const HistoryStore& store) {
  std::vector<std::string> items;
  for (const StoredClick& click : store.clicks()) items.push_back(click.item);
  return items;
}

std::string category_of(const DevicePack& pack, std::string_view item) {
  const auto at = std::find(pack.items.ids.begin(), pack.items.ids.end(), item) - pack.items.ids.begin();
  const std::uint16_t number = pack.items.categories[static_cast<std::size_t>(at)];
  return number == no_category ? "" : pack.categories[number];
}

TEST(HistoryStore, SurvivesBeingClosed) {
  const TempFolder folder;
  const DevicePack pack = testing::small_pack();
  std::vector<StoredClick> before;
  {
    HistoryStore store = *HistoryStore::open(folder / "history");
    EXPECT_TRUE(store.clicks().empty());
    ASSERT_TRUE(store.add(pack, "N3", second(1)));
    ASSERT_TRUE(store.add(pack, "N7", second(2)));
    ASSERT_TRUE(store.add(pack, "N4", second(3)));
    ASSERT_TRUE(store.add(pack, "N3", second(4)));  // again: it is the newest now
    EXPECT_THAT(store.add(pack, "N99", second(5)).error().message, HasSubstr("does not have the item"));
    before = store.clicks();
  }
  HistoryStore store = *HistoryStore::open(folder / "history");
  EXPECT_EQ(store.clicks(), before);
  EXPECT_THAT(items_of(store), ElementsAre("N7", "N4", "N3"));
  EXPECT_THAT(store.clicks()[0].labels, ElementsAre(""));
  EXPECT_THAT(store.clicks()[2].labels, ElementsAre("health"));
  ASSERT_TRUE(store.clear());
  EXPECT_TRUE(HistoryStore::open(folder / "history")->clicks().empty());
}

TEST(HistoryStore, WhatIsKeptOfACategoryDependsOnThatCategoryAlone) {
  const TempFolder folder;
  const DevicePack pack = testing::small_pack(60);
  HistoryStore mixed = *HistoryStore::open(folder / "mixed", 3);
  HistoryStore alone = *HistoryStore::open(folder / "alone", 3);
  for (int i = 0; i < 60; ++i) {
    const std::string item = "N" + std::to_string(i);
    ASSERT_TRUE(mixed.add(pack, item, second(i)));
    if (category_of(pack, item) == "sports") {
      ASSERT_TRUE(alone.add(pack, item, second(i)));
    }
  }
  std::vector<StoredClick> sports;
  for (const StoredClick& click : mixed.clicks()) {
    if (click.labels == std::vector<std::string>{"sports"}) sports.push_back(click);
  }
  EXPECT_EQ(sports, alone.clicks());
  EXPECT_EQ(sports.size(), 3U);
  EXPECT_EQ(mixed.clicks().size(), 12U);  // three categories and none
}

TEST(HistoryStore, ReadsClicksWhoseItemsLeftThePool) {
  const TempFolder folder;
  DevicePack pack = testing::small_pack(10);
  HistoryStore store = *HistoryStore::open(folder / "history");
  for (const char* item : {"N1", "N2", "N8"}) ASSERT_TRUE(store.add(pack, item, second(1)));
  const auto sensitivity = *privacy::SensitivitySettings::create({"uncategorised", "health", "sports"});
  const ReadableHistory before = store.readable(pack, sensitivity);
  ASSERT_EQ(before.clicks.size(), 3U);
  EXPECT_THAT(before.clicks[0].categories, ElementsAre());  // politics: not known to these settings
  EXPECT_THAT(before.clicks[1].categories, ElementsAre(privacy::CategoryId{2}));

  DevicePack later = testing::small_pack(2);  // N0 and N1 are left, with other vectors
  EXPECT_EQ(store.readable(later, sensitivity).clicks.size(), 3U);
  const auto kept = store.readable(later, sensitivity).vectors;
  EXPECT_TRUE(std::equal(kept.begin() + testing::vector_size, kept.end(),
                         before.vectors.begin() + testing::vector_size));
  later = testing::retrained(later);  // vectors of the old model mean nothing to it
  EXPECT_EQ(store.readable(later, sensitivity).clicks.size(), 1U);
}

TEST(HistoryStore, RefusesDamagedFiles) {
  const TempFolder folder;
  const DevicePack pack = testing::small_pack();
  HistoryStore store = *HistoryStore::open(folder / "history");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(store.add(pack, "N" + std::to_string(i), second(i)));
  std::string bytes = *read_file(folder / "history");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  ASSERT_TRUE(write_file_atomically(folder / "history", bytes));
  EXPECT_FALSE(HistoryStore::open(folder / "history"));

  const StoredHistory stored{store.clicks(), {{"N1", "health", "sports", second(9)}}, true};
  const std::string good = encode(stored);
  EXPECT_EQ(*decode_history(good), stored);
  for (std::size_t cut = 0; cut < good.size(); ++cut) EXPECT_FALSE(decode_history(good.substr(0, cut)));
  EXPECT_FALSE(decode_history(good + "x"));
  EXPECT_FALSE(decode_history("\xff\xff\xff\xff"));
}

DevicePack with_label(DevicePack pack, std::string_view item, std::uint16_t category) {
  const auto at = std::find(pack.items.ids.begin(), pack.items.ids.end(), item) - pack.items.ids.begin();
  pack.items.categories[static_cast<std::size_t>(at)] = category;
  return pack;
}

std::size_t unprotected_of(const HistoryStore& store, const DevicePack& pack) {
  const auto sensitivity =
      *privacy::SensitivitySettings::create({"health", "politics", "sports"}, {"sports"});
  return privacy::UnprotectedClicks::from(store.readable(pack, sensitivity).clicks, sensitivity)
      .items()
      .size();
}

// N3 is about health (0); calling it sports (2) would make its clicks free to ask for.
TEST(HistoryStore, KeepsTheLabelsOfClickTimeWhateverTheOperatorCallsTheItemLater) {
  const TempFolder folder;
  const DevicePack pack = testing::small_pack();
  const DevicePack relabelled = with_label(pack, "N3", 2);
  {
    HistoryStore store = *HistoryStore::open(folder / "history");
    ASSERT_TRUE(store.add(pack, "N3", second(1)));
    ASSERT_TRUE(store.follow_labels(&pack, relabelled, second(2)));
    ASSERT_TRUE(store.add(relabelled, "N3", second(3)));  // clicked again under its new name
  }
  HistoryStore store = *HistoryStore::open(folder / "history");
  EXPECT_THAT(store.clicks().back().labels, ElementsAre("health", "sports"));
  EXPECT_EQ(unprotected_of(store, relabelled), 0U);
  EXPECT_THAT(store.label_changes(), ElementsAre(LabelChange{"N3", "health", "sports", second(2)}));
  ASSERT_TRUE(store.follow_labels(&pack, relabelled, second(4)));
  EXPECT_EQ(store.label_changes().size(), 1U) << "told once";
}

TEST(HistoryStore, RemembersLabelsFromBeforeTheFirstClick) {
  const TempFolder folder;
  const DevicePack pack = testing::small_pack();
  const DevicePack relabelled = with_label(pack, "N3", 2);
  HistoryStore store = *HistoryStore::open(folder / "history");
  ASSERT_TRUE(store.follow_labels(nullptr, pack, second(1)));
  ASSERT_TRUE(store.follow_labels(&pack, relabelled, second(2)));
  ASSERT_TRUE(store.add(relabelled, "N3", second(3)));
  ASSERT_TRUE(store.add(relabelled, "N5", second(3)));  // sports all along
  EXPECT_EQ(unprotected_of(store, relabelled), 1U);
}

TEST(HistoryStore, NoticesALabelThatChangedInPacksItNeverSaw) {
  const TempFolder folder;
  const DevicePack pack = testing::small_pack();
  HistoryStore store = *HistoryStore::open(folder / "history");
  ASSERT_TRUE(store.add(pack, "N5", second(1)));
  EXPECT_EQ(unprotected_of(store, pack), 1U);
  ASSERT_TRUE(store.follow_labels(nullptr, with_label(pack, "N5", 0), second(2)));
  EXPECT_THAT(store.label_changes(), ElementsAre(LabelChange{"N5", "sports", "health", second(2)}));
  EXPECT_EQ(unprotected_of(store, pack), 0U) << "once called health, it stays protected";
}

TEST(HistoryStore, TrustsNoLabelAfterMoreChangesThanItKeeps) {
  const TempFolder folder;
  const DevicePack pack = testing::small_pack(HistoryStore::most_changes + 100);
  DevicePack all_sports = pack;
  for (auto& category : all_sports.items.categories) category = 2;
  DevicePack all_health = pack;
  for (auto& category : all_health.items.categories) category = 0;
  HistoryStore store = *HistoryStore::open(folder / "history");
  ASSERT_TRUE(store.follow_labels(&all_health, all_sports, second(1)));
  EXPECT_EQ(store.label_changes().size(), HistoryStore::most_changes);
  ASSERT_TRUE(store.add(all_sports, all_sports.items.ids.back(), second(2)));
  EXPECT_EQ(unprotected_of(store, all_sports), 0U);
}

TEST(HistoryStore, IsReadableByItsOwnerOnlyAlsoWhereItWasNot) {
  const TempFolder folder;
  const DevicePack pack = testing::small_pack();
  const fs::path path = folder / "history";
  const auto mode = [&] { return fs::status(path).permissions() & fs::perms::all; };
  constexpr fs::perms owner = fs::perms::owner_read | fs::perms::owner_write;
  ASSERT_TRUE(HistoryStore::open(path)->add(pack, "N1", second(1)));
  EXPECT_EQ(mode(), owner);
  fs::permissions(path, owner | fs::perms::group_read | fs::perms::others_read);
  ASSERT_TRUE(HistoryStore::open(path));
  EXPECT_EQ(mode(), owner);
}

}  // namespace
}  // namespace sotto::device
