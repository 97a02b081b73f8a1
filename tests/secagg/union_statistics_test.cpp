// How large unions are: by hand on small sets, and measured on real news clicks.

#include "secagg/item_union/union_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "secagg/item_union/private_union.h"
#include "secagg/vectors/modular_sum.h"
#include "test_paths.h"

namespace sotto::secagg {
namespace {

TEST(UnionStatistics, CountsByHand) {
  const std::vector<std::vector<std::uint32_t>> same(4, {7, 7, 9});
  const auto all = *union_statistics(same, 2, 1);
  EXPECT_EQ(all.groups, 2U);
  EXPECT_EQ(all.items_per_user, 2);
  EXPECT_EQ(all.union_size, 2);
  EXPECT_EQ(all.singleton_share, 0);
  const std::vector<std::vector<std::uint32_t>> mixed{{1, 2, 3}, {3, 4}, {}};
  const auto group = *union_statistics(mixed, 3, 1);
  EXPECT_EQ(group.union_size, 4);
  EXPECT_EQ(group.singleton_share, 0.75);
  EXPECT_NEAR(group.items_per_user, 5.0 / 3, 1e-12);
  EXPECT_EQ(group.largest_union, 4U);
  EXPECT_EQ(union_statistics(mixed, 1, 1)->singleton_share, 1);
  EXPECT_EQ(union_statistics(std::vector<std::vector<std::uint32_t>>(2), 2, 1)->singleton_share, 0);
}

TEST(UnionStatistics, RefusesGroupsNobodyCanFill) {
  const std::vector<std::vector<std::uint32_t>> one{{1}};
  EXPECT_FALSE(union_statistics(one, 2, 1).has_value());
  EXPECT_FALSE(union_statistics(one, 0, 1).has_value());
}

std::uint32_t number(std::string_view text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

using ItemSets = std::vector<std::vector<std::uint32_t>>;

// The articles that each user clicked, users ascending. Empty when the data is not here.
ItemSets read_globo() {
  const auto folder = shared_data_directory();
  if (!folder || !fs::exists(*folder / "globo" / "clicks_first_8_days.csv.xz")) return {};
  auto reader = LineReader::open(*folder / "globo" / "clicks_first_8_days.csv.xz");
  if (!reader) return {};
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_user;
  std::string_view line;
  while (*reader->next(line)) {
    if (reader->line_number() == 1) continue;
    std::vector<std::string_view>
        fields;  // user_id, session_id, session_start, session_size, click_article_id, …
    for (std::size_t begin = 0; fields.size() < 5 && begin <= line.size();) {
      const std::size_t end = std::min(line.find(',', begin), line.size());
      fields.push_back(line.substr(begin, end - begin));
      begin = end + 1;
    }
    if (fields.size() == 5) by_user[number(fields[0])].push_back(number(fields[4]));
  }
  ItemSets sets;
  for (auto& [user, items] : by_user) sets.push_back(std::move(items));
  return sets;
}

const ItemSets& globo() {
  static const ItemSets sets = read_globo();
  return sets;
}

constexpr const char* no_globo =
    "the Globo clicks are not here: set SOTTO_DATA to the folder that has globo/";

// Prints the table of docs/secagg/union.md.
TEST(UnionsOfRealClicks, GrowWithTheGroupAndAreMostlySingletons) {
  if (globo().empty()) GTEST_SKIP() << no_globo;
  double last_union = 0, last_share = 1;
  for (const std::uint64_t group : {50, 200, 1000}) {
    const auto statistics = *union_statistics(globo(), group, 1);
    std::printf("groups of %4lu (%lu): %.2f items per user, union %.1f (largest %lu), singletons %.1f %%\n",
                statistics.group_size, statistics.groups, statistics.items_per_user, statistics.union_size,
                statistics.largest_union, 100 * statistics.singleton_share);
    EXPECT_GT(statistics.union_size, last_union);
    EXPECT_LT(statistics.singleton_share, last_share);
    last_union = statistics.union_size;
    last_share = statistics.singleton_share;
  }
  EXPECT_GT(last_share, 0.3) << "even in groups of a thousand many items belong to one reader";
}

TEST(UnionsOfRealClicks, ThePrivateOneNamesWhatManyRead) {
  if (globo().empty()) GTEST_SKIP() << no_globo;
  constexpr std::uint64_t catalogue = 364047;  // article numbers of the data set
  const auto layout = *CounterLayout::hashed(catalogue, {.rows = 3, .counters = 40000, .seed = 1});
  const auto form =
      *PrivateUnion::create(layout, {.cap = 10, .devices = 1000, .dropped = 100, .noise_multiplier = 1});
  SeededRandom random(1, Purpose::test);
  std::vector<std::uint32_t> sum(layout.counters());
  for (std::size_t user = 0; user < 1000; ++user) {
    const auto& items = globo()[user * (globo().size() / 1000)];
    ASSERT_TRUE(add_entries(sum, *form.encode(items, privacy::DeviceRandom::simulated(random))).has_value());
  }
  const auto named = *form.decode(sum);
  std::uint64_t clicks = 0, covered = 0;
  std::set<std::uint32_t> held;
  for (std::size_t user = 0; user < 1000; ++user) {
    for (const std::uint32_t item : globo()[user * (globo().size() / 1000)]) {
      ++clicks;
      held.insert(item);
      covered += std::binary_search(named.begin(), named.end(), item) ? 1 : 0;
    }
  }
  const double share = static_cast<double>(covered) / static_cast<double>(clicks);
  const auto invented =
      std::count_if(named.begin(), named.end(), [&](auto item) { return !held.contains(item); });
  std::printf(
      "private union of 1000: %zu of %zu items named with %.1f %% of the clicks, and %zd that nobody read\n",
      named.size() - static_cast<std::size_t>(invented), held.size(), 100 * share, invented);
  std::printf("at a threshold of %.1f, epsilon %.2f (delta 1e-6), %zu bytes per device\n", form.threshold(),
              form.guarantee(1e-6)->epsilon, form.bytes_per_device());
  EXPECT_GT(share, 0.4);
  EXPECT_LT(static_cast<double>(invented), 1 + 2 * form.false_positive_bound(held.size()));
}

}  // namespace
}  // namespace sotto::secagg
