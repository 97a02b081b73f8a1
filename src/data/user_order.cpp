#include "data/user_order.h"

#include <algorithm>

namespace sotto {

UserOrder order_by_user_and_time(std::span<const UserId> users, std::span<const std::int64_t> times,
                                 std::size_t user_count) {
  UserOrder order;
  order.user_offsets.assign(user_count + 1, 0);
  for (const UserId user : users) ++order.user_offsets[user + std::size_t{1}];
  for (std::size_t user = 0; user < user_count; ++user) {
    order.user_offsets[user + 1] += order.user_offsets[user];
  }

  order.rows.resize(users.size());
  std::vector<std::uint64_t> next(order.user_offsets.begin(), order.user_offsets.end() - 1);
  for (std::size_t row = 0; row < users.size(); ++row) order.rows[next[users[row]]++] = row;

  const auto earlier = [&](std::uint64_t left, std::uint64_t right) { return times[left] < times[right]; };
  for (std::size_t user = 0; user < user_count; ++user) {
    const auto first = order.rows.begin() + static_cast<std::ptrdiff_t>(order.user_offsets[user]);
    const auto last = order.rows.begin() + static_cast<std::ptrdiff_t>(order.user_offsets[user + 1]);
    if (!std::is_sorted(first, last, earlier)) std::stable_sort(first, last, earlier);
  }
  return order;
}

}  // namespace sotto
