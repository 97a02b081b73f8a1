// Equal content has equal fingerprints, wherever and under whatever name it is stored; any other content has
// not.

#include "data/fingerprint.h"

#include <gtest/gtest.h>

#include "data/dataset_builder.h"
#include "test_paths.h"

namespace sotto::data {
namespace {

struct Changes {
  std::string name = "a", title = "red", item = "N1";
  std::int64_t time = 1;
  std::uint8_t clicked = 1;
};

std::string made(const TempFolder& folder, const std::string& place, const Changes& changes) {
  DatasetBuilder builder(changes.name, "made in " + place);
  builder.add_item({changes.item, changes.title, "", "colours", ""});
  builder.add_item({"N2", "blue", "", "colours", ""});
  const auto user = builder.user("U");
  const std::vector<ItemId> history = {1}, shown = {0, 1};
  const std::vector<std::uint8_t> clicked = {changes.clicked, 0};
  builder.add_impression(user, changes.time, Split::train, builder.add_history(history), 1, shown, clicked);
  fs::create_directories(folder / place);
  EXPECT_TRUE(builder.write(folder / place));
  return fingerprint(Dataset::open(folder / place).value());
}

TEST(Fingerprint, FollowsFromTheContentAlone) {
  const TempFolder folder;
  const std::string first = made(folder, "first", {});
  EXPECT_EQ(first.size(), 16U);
  EXPECT_EQ(made(folder, "second", {}), first);
  EXPECT_EQ(made(folder, "renamed", {.name = "b"}), first);
  EXPECT_NE(made(folder, "title", {.title = "rad"}), first);
  EXPECT_NE(made(folder, "item", {.item = "N3"}), first);
  EXPECT_NE(made(folder, "time", {.time = 2}), first);
  EXPECT_NE(made(folder, "click", {.clicked = 0}), first);
}

}  // namespace
}  // namespace sotto::data
