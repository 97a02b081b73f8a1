#include <gmock/gmock.h>

#include "data/public_part.h"
#include "import_fixture.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ImportLists : public ImportTest {
 protected:
  // "user item split" of every row, sorted.
  static std::vector<std::string> rows_of(const Dataset& dataset) {
    std::vector<std::string> found;
    const Interactions& rows = dataset.interactions();
    for (UserId user = 0; user < dataset.user_count(); ++user)
      for (std::uint64_t row = rows.user_offsets[user]; row < rows.user_offsets[user + 1]; ++row)
        found.push_back(std::string(dataset.user_ids()[user]) + " " +
                        std::string(dataset.catalogue().ids[rows.items[row]]) +
                        (rows.splits[row] == static_cast<std::uint8_t>(Split::test) ? " test" : " train"));
    std::sort(found.begin(), found.end());
    return found;
  }
};

TEST_F(ImportLists, KeepsTheSplitThatTheFilesGive) {
  write("train.txt", "0 2 0\n1 1\n3\n");
  write("test.txt", "0 1 \n2 4\n");
  const Dataset dataset = import("lists");
  EXPECT_EQ(dataset.user_count(), 3U) << "a user without a row is nobody";
  EXPECT_EQ(dataset.item_count(), 5U) << "item 3 exists, though nobody names it";
  EXPECT_EQ(dataset.catalogue().public_count(), 5U);
  ASSERT_TRUE(dataset.interactions().has_splits());
  EXPECT_THAT(rows_of(dataset), ElementsAre("0 0 train", "0 1 test", "0 2 train", "1 1 train", "2 4 test"));
  EXPECT_THAT(rows_of(public_part(dataset).value().dataset), ::testing::SizeIs(5));
  EXPECT_TRUE(has_note("the public list of items is 0 to 4"));
}

TEST_F(ImportLists, AViewOfImpressionsKeepsThePublishedSplit) {
  write("train.txt", "0 2 0 5\n1 1 3\n2\n");
  write("test.txt", "0 1 4\n1 0\n2 3\n");
  const Dataset dataset = import("lists", {"view=impressions", "negatives=2", "items=9"});
  // Clicked item, what was known before it, and whether it tests.
  const auto rows = [&](std::string_view user) {
    std::vector<std::string> found;
    const auto [first, last] = dataset.impressions_of(row_of(dataset.user_ids(), user));
    for (std::size_t row = first; row < last; ++row) {
      const Impression impression = dataset.impression(row);
      const auto clicked = std::find(impression.clicked.begin(), impression.clicked.end(), 1);
      const auto place = static_cast<std::size_t>(clicked - impression.clicked.begin());
      found.push_back(fmt::format("{} after {}{}", dataset.catalogue().ids[impression.shown[place]],
                                  impression.history.size(),
                                  impression.split == Split::test ? " tests" : ""));
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  const auto first = rows("0");
  ASSERT_EQ(first.size(), 4U) << "of three that train the first is history alone";
  EXPECT_THAT(first, ::testing::IsSupersetOf({"1 after 3 tests", "4 after 3 tests"}));
  EXPECT_EQ(std::count_if(first.begin(), first.end(), [](const auto& row) { return row.ends_with("tests"); }),
            2);
  EXPECT_THAT(rows("1"), ::testing::Contains("0 after 2 tests"));
  EXPECT_THAT(rows("2"), ::testing::IsEmpty()) << "nothing is known of it before its only row tests";
  EXPECT_THAT(std::string(dataset.origin()), HasSubstr("split as published"));
}

TEST_F(ImportLists, TheOrderOfLinesAndItemsChangesNothing) {
  write("train.txt", "0 2 0\n1 1\n");
  write("test.txt", "0 1\n");
  const auto bytes = [&] {
    std::ifstream file(out() / "dataset.sotto", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  import("lists");
  const std::string first = bytes();
  write("train.txt", "1 1\n0 0 2\n");
  import("lists", {"replace=true"});
  EXPECT_EQ(bytes(), first);
}

TEST_F(ImportLists, PairsThatStandTwiceCountOnceAndTrainIfTheyDoBoth) {
  write("train.txt", "0 2 2 0\n");
  write("test.txt", "0 2 1\n");
  EXPECT_THAT(rows_of(import("lists")), ElementsAre("0 0 train", "0 1 test", "0 2 train"));
  EXPECT_TRUE(has_note("1 items stand twice"));
  EXPECT_TRUE(has_note("1 test items are in their user's training list"));
}

TEST_F(ImportLists, TheNumberOfItemsCanBeGiven) {
  write("train.txt", "0 2 0\n");
  write("test.txt", "0 1\n");
  EXPECT_EQ(import("lists", {"items=9"}).item_count(), 9U);
  fs::remove_all(out());
  EXPECT_THAT(failure("lists", {"items=2"}), HasSubstr("not a number below the items there are"));
}

TEST_F(ImportLists, RefusesWhatIsNoList) {
  EXPECT_THAT(failure("lists"), HasSubstr("expected train.txt and test.txt"));
  write("train.txt", "0 1\n1 -1\n2 x\n");
  write("test.txt", "0 2\n");
  EXPECT_THAT(failure("lists"), HasSubstr("an item is not a number from 0"));
  write("train.txt", "0 99999999\n");
  EXPECT_THAT(failure("lists"), HasSubstr("no numbers of a list"));
  write("train.txt", "u1 1\n");
  EXPECT_THAT(failure("lists"), HasSubstr("the user is not a number"));
}

}  // namespace
}  // namespace sotto::data
