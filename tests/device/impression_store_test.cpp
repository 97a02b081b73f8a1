#include "device/history/impression_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_paths.h"

namespace sotto::device {
namespace {

const privacy::UtcTime today{std::chrono::seconds(1'800'000'000)};

StoredImpression page(const std::string& clicked, privacy::UtcTime time = today) {
  return {time, {"n1", "n2"}, {clicked, "other"}, {1, 0}};
}

TEST(ImpressionStore, KeepsWhatWasShownAcrossReopening) {
  TempFolder folder;
  {
    auto store = ImpressionStore::open(folder / "impressions").value();
    ASSERT_TRUE(store.add({page("a"), page("b")}, today));
  }
  const auto again = ImpressionStore::open(folder / "impressions").value();
  EXPECT_EQ(again.impressions(), (std::vector<StoredImpression>{page("a"), page("b")}));
  const auto mode = fs::status(folder / "impressions").permissions();
  EXPECT_EQ(mode & (fs::perms::group_all | fs::perms::others_all), fs::perms::none) << "its owner's alone";
}

TEST(ImpressionStore, LetsTheOldestGoByNumberAndByAge) {
  TempFolder folder;
  auto store =
      ImpressionStore::open(folder / "impressions", {.impressions = 3, .age = std::chrono::days(10)}).value();
  ASSERT_TRUE(store.add(
      {page("old", today - std::chrono::days(11)), page("a"), page("b"), page("c"), page("d")}, today));
  ASSERT_EQ(store.impressions().size(), 3U);
  EXPECT_EQ(store.impressions().front().shown.front(), "b");
  ASSERT_TRUE(store.forget_old(today + std::chrono::days(10) + std::chrono::seconds(1)));
  EXPECT_TRUE(store.impressions().empty());
}

TEST(ImpressionStore, RefusesNonsenseAndChangesNothing) {
  TempFolder folder;
  auto store = ImpressionStore::open(folder / "impressions").value();
  ASSERT_TRUE(store.add({page("a")}, today));
  StoredImpression wrong = page("b");
  wrong.clicked = {1};
  EXPECT_FALSE(store.add({page("c"), wrong}, today));
  wrong = page("b");
  wrong.clicked = {2, 0};
  EXPECT_FALSE(store.add({wrong}, today));
  wrong = page("");
  EXPECT_FALSE(store.add({wrong}, today));
  wrong = page("b");
  wrong.history.assign(ImpressionLimits::most_items + 1, "n");
  EXPECT_FALSE(store.add({wrong}, today));
  EXPECT_EQ(store.impressions(), std::vector<StoredImpression>{page("a")});
}

TEST(ImpressionStore, LeavesNoByteBehindWhenItIsCleared) {
  TempFolder folder;
  auto store = ImpressionStore::open(folder / "impressions").value();
  ASSERT_TRUE(store.add({page("secret-item")}, today));
  ASSERT_TRUE(store.clear());
  for (const auto& file : fs::recursive_directory_iterator(folder.path())) {
    const auto bytes = read_file(file.path());
    ASSERT_TRUE(bytes);
    EXPECT_THAT(*bytes, ::testing::Not(::testing::HasSubstr("secret-item"))) << file.path();
  }
  EXPECT_FALSE(fs::exists(folder / "impressions"));
}

TEST(ImpressionStore, DamagedBytesAreRefused) {
  const std::string bytes = encode(std::vector<StoredImpression>{page("a"), page("b")});
  ASSERT_TRUE(decode_impressions(bytes));
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    EXPECT_FALSE(decode_impressions(bytes.substr(0, cut))) << cut;
  EXPECT_FALSE(decode_impressions(bytes + "x"));
}

}  // namespace
}  // namespace sotto::device
