#pragma once
// The order in which behaviour is stored: by user, then by time, rows of equal time as they came.

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.h"

namespace sotto {

struct UserOrder {
  std::vector<std::uint64_t> user_offsets;  // rows[user_offsets[u] .. user_offsets[u + 1]) are user u's
  std::vector<std::uint64_t> rows;          // numbers of rows as they were added
};

// Linear in rows when they already come in time order. Every users[i] < user_count.
UserOrder order_by_user_and_time(std::span<const UserId> users, std::span<const std::int64_t> times,
                                 std::size_t user_count);

// values[order[0]], values[order[1]], ...
template <class T>
std::vector<T> in_order(const std::vector<T>& values, std::span<const std::uint64_t> order) {
  std::vector<T> ordered;
  ordered.reserve(order.size());
  for (const std::uint64_t row : order) ordered.push_back(values[row]);
  return ordered;
}

}  // namespace sotto
