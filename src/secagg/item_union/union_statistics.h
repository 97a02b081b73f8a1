#pragma once
// How large unions of item sets get in groups of users, and how much of a union one user alone holds: what a
// union gives away about single people.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace sotto::secagg {

struct UnionStatistics {
  std::uint64_t group_size = 0;
  std::uint64_t groups = 0;
  double items_per_user = 0;   // mean, distinct
  double union_size = 0;       // mean over groups
  double singleton_share = 0;  // of all items in all unions, those that one user of the group holds
  std::uint64_t largest_union = 0;
};

// Users in random order (by the seed) are cut into groups; users left over at the end belong to none. Refuses
// fewer users than one group. Items may repeat within a set.
Result<UnionStatistics> union_statistics(std::span<const std::vector<std::uint32_t>> item_sets,
                                         std::uint64_t group_size, std::uint64_t seed);

}  // namespace sotto::secagg
