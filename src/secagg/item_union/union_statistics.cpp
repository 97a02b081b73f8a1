#include "secagg/item_union/union_statistics.h"

#include <algorithm>
#include <numeric>

#include "base/distributions.h"
#include "privacy/mechanisms/parameter_checks.h"

namespace sotto::secagg {

namespace {

struct Group {
  std::uint64_t held = 0;  // pairs of user and item
  std::uint64_t items = 0;
  std::uint64_t singletons = 0;
};

Group measure(std::span<const std::vector<std::uint32_t>> item_sets, std::span<const std::size_t> users) {
  std::vector<std::uint32_t> all;
  for (const std::size_t user : users) {
    std::vector<std::uint32_t> own = item_sets[user];
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    all.insert(all.end(), own.begin(), own.end());
  }
  std::sort(all.begin(), all.end());
  Group group{.held = all.size()};
  for (auto item = all.begin(); item != all.end();) {
    const auto next = std::upper_bound(item, all.end(), *item);
    ++group.items;
    if (next - item == 1) ++group.singletons;
    item = next;
  }
  return group;
}

}  // namespace

Result<UnionStatistics> union_statistics(std::span<const std::vector<std::uint32_t>> item_sets,
                                         std::uint64_t group_size, std::uint64_t seed) {
  SOTTO_CHECK(privacy::require_at_least(group_size, 1, "group size"));
  SOTTO_CHECK(privacy::require_at_least(item_sets.size(), group_size, "number of users"));
  std::vector<std::size_t> order(item_sets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  SeededRandom random(seed, Purpose::cohort_sampling);
  shuffle(std::span(order), random);

  UnionStatistics statistics{.group_size = group_size, .groups = item_sets.size() / group_size};
  Group total;
  for (std::uint64_t i = 0; i < statistics.groups; ++i) {
    const Group group = measure(item_sets, std::span(order).subspan(i * group_size, group_size));
    total.held += group.held;
    total.items += group.items;
    total.singletons += group.singletons;
    statistics.largest_union = std::max(statistics.largest_union, group.items);
  }
  const auto groups = static_cast<double>(statistics.groups);
  statistics.items_per_user = static_cast<double>(total.held) / groups / static_cast<double>(group_size);
  statistics.union_size = static_cast<double>(total.items) / groups;
  if (total.items > 0) {
    statistics.singleton_share = static_cast<double>(total.singletons) / static_cast<double>(total.items);
  }
  return statistics;
}

}  // namespace sotto::secagg
