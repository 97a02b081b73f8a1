#include "data/splits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "small_dataset.h"

namespace sotto::data {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<UserId> first_users(std::size_t count) {
  std::vector<UserId> users(count);
  std::iota(users.begin(), users.end(), UserId{0});
  return users;
}

RC_GTEST_PROP(SplitUsers, DividesEveryUserToOneSide, (std::uint64_t seed)) {
  const auto count = *rc::gen::inRange<std::size_t>(5, 300);
  const std::vector<UserId> users = first_users(count);
  const auto split = split_users(users, 0.8, seed);
  RC_ASSERT(split.has_value());
  std::vector<UserId> all = split->train;
  all.insert(all.end(), split->test.begin(), split->test.end());
  RC_ASSERT(std::is_sorted(split->train.begin(), split->train.end()));
  RC_ASSERT(std::is_sorted(split->test.begin(), split->test.end()));
  std::sort(all.begin(), all.end());
  RC_ASSERT(all == users);
  RC_ASSERT(split->train.size() == static_cast<std::size_t>(std::llround(0.8 * static_cast<double>(count))));
}

TEST(SplitUsers, IsTheSameForTheSameSeedOnly) {
  const auto users = first_users(1000);
  EXPECT_EQ(split_users(users, 0.8, 7)->train, split_users(users, 0.8, 7)->train);
  EXPECT_NE(split_users(users, 0.8, 7)->train, split_users(users, 0.8, 8)->train);
}

TEST(SplitUsers, EveryUserTrainsEquallyOften) {
  // Binomial(2000, 0.8): five standard deviations are 90, so 50 users fail by chance with probability < 1e-4;
  // the seeds are fixed.
  const auto users = first_users(50);
  std::vector<int> trained(50, 0);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const auto split = split_users(users, 0.8, seed);
    for (const UserId user : split->train) ++trained[user];
  }
  for (const int times : trained) EXPECT_NEAR(times, 1600, 90);
}

TEST(SplitUsers, RefusesSharesAndUsersThatLeaveASideEmpty) {
  const auto users = first_users(10);
  for (const double share : {0.0, 1.0, -0.1, 1.5, static_cast<double>(missing_number), 0.01, 0.99}) {
    EXPECT_FALSE(split_users(users, share, 1)) << share;
  }
  EXPECT_FALSE(split_users({}, 0.8, 1));
  EXPECT_FALSE(split_users(first_users(1), 0.8, 1));
}

// User u has u rows; items repeat after three.
Interactions rows_by_user(std::size_t users, std::vector<std::uint64_t>& offsets,
                          std::vector<ItemId>& items) {
  offsets = {0};
  for (std::size_t user = 0; user < users; ++user) {
    for (std::size_t row = 0; row < user; ++row) items.push_back(static_cast<ItemId>(row % 3));
    offsets.push_back(items.size());
  }
  Interactions interactions;
  interactions.user_offsets = offsets;
  interactions.items = items;
  return interactions;
}

TEST(HalveRows, DividesEveryRowOfAUserToOneSideInTimeOrder) {
  std::vector<std::uint64_t> offsets;
  std::vector<ItemId> items;
  const Interactions interactions = rows_by_user(40, offsets, items);
  for (UserId user = 0; user < 40; ++user) {
    const RowHalves halves = halve_rows(interactions, user, RowUnit::every_row, 3);
    EXPECT_TRUE(std::is_sorted(halves.input.begin(), halves.input.end()));
    EXPECT_TRUE(std::is_sorted(halves.test.begin(), halves.test.end()));
    std::vector<std::uint64_t> all = halves.input;
    all.insert(all.end(), halves.test.begin(), halves.test.end());
    std::sort(all.begin(), all.end());
    std::vector<std::uint64_t> expected(user);
    std::iota(expected.begin(), expected.end(), offsets[user]);
    EXPECT_EQ(all, expected);
    EXPECT_EQ(halves.input.size(), user == 1 ? 1 : user / 2);
  }
}

TEST(HalveRows, AUserWithOneRowKeepsItAsInputAndIsNotTested) {
  std::vector<std::uint64_t> offsets;
  std::vector<ItemId> items;
  const Interactions interactions = rows_by_user(2, offsets, items);
  const RowHalves halves = halve_rows(interactions, 1, RowUnit::every_row, 3);
  EXPECT_THAT(halves.input, ElementsAre(0U));
  EXPECT_THAT(halves.test, IsEmpty());
}

TEST(HalveRows, WithDistinctItemsNoItemIsOnBothSides) {
  std::vector<std::uint64_t> offsets;
  std::vector<ItemId> items;
  const Interactions interactions = rows_by_user(40, offsets, items);
  const RowHalves halves = halve_rows(interactions, 39, RowUnit::distinct_items, 3);
  EXPECT_EQ(halves.input.size() + halves.test.size(), 3U);
  std::set<ItemId> different;
  for (const std::uint64_t row : halves.input) different.insert(items[row]);
  for (const std::uint64_t row : halves.test) different.insert(items[row]);
  EXPECT_EQ(different.size(), 3U);
}

TEST(HalveRows, EachRowIsTestedHalfOfTheTime) {
  std::vector<std::uint64_t> offsets;
  std::vector<ItemId> items;
  const Interactions interactions = rows_by_user(11, offsets, items);
  std::vector<int> tested(items.size(), 0);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    for (const std::uint64_t row : halve_rows(interactions, 10, RowUnit::every_row, seed).test) ++tested[row];
  }
  // Five standard deviations of Binomial(2000, 0.5).
  for (std::uint64_t row = offsets[10]; row < offsets[11]; ++row) EXPECT_NEAR(tested[row], 1000, 112);
}

TEST(HalveRows, UsersAreHalvedIndependentlyOfEachOther) {
  const std::vector<std::uint64_t> offsets = {0, 40, 80};
  const std::vector<ItemId> items(80, 0);
  Interactions interactions;
  interactions.user_offsets = offsets;
  interactions.items = items;
  std::vector<std::uint64_t> second = halve_rows(interactions, 1, RowUnit::every_row, 5).input;
  for (std::uint64_t& row : second) row -= 40;
  EXPECT_NE(halve_rows(interactions, 0, RowUnit::every_row, 5).input, second);
}

TEST(UserSelection, FindsUsersByWhatTheyHave) {
  const TempFolder folder;
  const Dataset dataset = write_and_open(small_builder(), folder.path());
  EXPECT_THAT(users_with_interactions(dataset), ElementsAre(1U));
  EXPECT_THAT(users_with_interactions(dataset, 3), IsEmpty());
}

}  // namespace
}  // namespace sotto::data
