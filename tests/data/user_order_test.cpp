#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "data/dataset_builder.h"

namespace sotto::data {
namespace {

RC_GTEST_PROP(UserOrder, EqualsAStableSortByUserAndTime, ()) {
  const auto rows = *rc::gen::container<std::vector<std::pair<UserId, std::int64_t>>>(
      rc::gen::pair(rc::gen::inRange<UserId>(0, 5), rc::gen::inRange<std::int64_t>(-3, 4)));
  std::vector<UserId> users;
  std::vector<std::int64_t> times;
  for (const auto& [user, time] : rows) {
    users.push_back(user);
    times.push_back(time);
  }
  std::vector<std::uint64_t> expected(rows.size());
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](std::uint64_t left, std::uint64_t right) { return rows[left] < rows[right]; });

  const UserOrder order = order_by_user_and_time(users, times, 5);
  RC_ASSERT(order.rows == expected);
  RC_ASSERT(order.user_offsets.size() == 6U);
  for (UserId user = 0; user < 5; ++user) {
    for (std::uint64_t place = order.user_offsets[user]; place < order.user_offsets[user + 1]; ++place) {
      RC_ASSERT(users[order.rows[place]] == user);
    }
  }
}

}  // namespace
}  // namespace sotto::data
