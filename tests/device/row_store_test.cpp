#include "device/history/row_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "test_paths.h"

namespace sotto::device {
namespace {

using ::testing::HasSubstr;

privacy::UtcTime at(std::int64_t days) { return privacy::UtcTime(std::chrono::days(20'000 + days)); }

StoredRow row(std::string item, std::int64_t day, std::optional<float> rating = {}) {
  return {at(day), std::move(item), rating, {{"weather", "rain"}}};
}

TEST(RowStore, KeepsRowsAndProfileForItsOwnerAlone) {
  const TempFolder folder;
  const fs::path path = folder / "rows.sotto";
  {
    auto store = RowStore::open(path).value();
    ASSERT_TRUE(store.set_profile({{"gender", "F"}}));
    ASSERT_TRUE(store.add({row("a", 0, 4.5F), row("b", 1)}, at(1)));
    ASSERT_TRUE(store.add({row("a", 2)}, at(2)));
  }
  const auto again = RowStore::open(path).value();
  EXPECT_EQ(again.stored().profile, (std::vector<FieldValue>{{"gender", "F"}}));
  EXPECT_EQ(again.stored().rows, (std::vector<StoredRow>{row("a", 0, 4.5F), row("b", 1), row("a", 2)}));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(RowStore, LetsTheOldestGoAndDeletesEverything) {
  const TempFolder folder;
  auto store = RowStore::open(folder / "rows.sotto", {.rows = 2, .age = std::chrono::days(10)}).value();
  ASSERT_TRUE(store.add({row("a", 0), row("b", 1), row("c", 2)}, at(2)));
  EXPECT_EQ(store.stored().rows, (std::vector<StoredRow>{row("b", 1), row("c", 2)}));
  ASSERT_TRUE(store.forget_old(at(12)));
  EXPECT_EQ(store.stored().rows, (std::vector<StoredRow>{row("c", 2)}));
  ASSERT_TRUE(store.clear());
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_EQ(store.stored(), StoredRows());
}

TEST(RowStore, RefusesWhatMakesNoSenseAndKeepsWhatItHad) {
  const TempFolder folder;
  auto store = RowStore::open(folder / "rows.sotto").value();
  ASSERT_TRUE(store.add({row("a", 0)}, at(0)));
  EXPECT_FALSE(store.add({row("b", 1), row("", 1)}, at(1)));
  EXPECT_FALSE(store.add({row("b", 1, std::numeric_limits<float>::infinity())}, at(1)));
  EXPECT_FALSE(store.set_profile({{"gender", "F\n"}}));
  EXPECT_FALSE(store.set_profile(std::vector<FieldValue>(1001, {"a", "b"})));
  EXPECT_EQ(store.stored().rows.size(), 1U);
  EXPECT_TRUE(store.stored().profile.empty());
}

TEST(RowStore, RefusesBytesThatAreCutOffOrLonger) {
  const std::string bytes = encode(StoredRows{{{"gender", "F"}}, {row("a", 0, 1.0F), row("b", 1)}});
  ASSERT_TRUE(decode_rows(bytes));
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) EXPECT_FALSE(decode_rows(bytes.substr(0, cut))) << cut;
  EXPECT_FALSE(decode_rows(bytes + "x"));
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "rows.sotto", "no rows", FileReaders::owner));
  EXPECT_FALSE(RowStore::open(folder / "rows.sotto"));
}

}  // namespace
}  // namespace sotto::device
