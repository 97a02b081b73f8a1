// How large unions are: by hand on small sets, and measured on real news clicks.

#include "secagg/item_union/union_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/files.h"
#include "secagg/item_union/bench_union.h"
#include "test_paths.h"

namespace sotto {
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

// Prints the table of docs/secagg/union.md.
TEST(UnionStatistics, OfRealNewsClicks) {
  const auto folder = shared_data_directory();
  if (!folder || !fs::exists(*folder / "globo" / "clicks_first_8_days.csv.xz")) {
    GTEST_SKIP() << "the Globo clicks are not here: set SOTTO_DATA to the folder that has globo/";
  }
  auto reader = LineReader::open(*folder / "globo" / "clicks_first_8_days.csv.xz");
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> by_user;
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
    ASSERT_EQ(fields.size(), 5U);
    by_user[number(fields[0])].push_back(number(fields[4]));
  }
  std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> ordered(by_user.begin(), by_user.end());
  std::sort(ordered.begin(), ordered.end());
  std::vector<std::vector<std::uint32_t>> sets;
  for (auto& [user, items] : ordered) sets.push_back(std::move(items));
  double last_union = 0, last_share = 1;
  for (const std::uint64_t group : {50, 200, 1000}) {
    const auto statistics = *union_statistics(sets, group, 1);
    std::printf(
        "%zu users, groups of %4lu (%5lu): %5.2f items per user, union %7.1f (largest %lu), singletons %4.1f "
        "%%\n",
        sets.size(), statistics.group_size, statistics.groups, statistics.items_per_user,
        statistics.union_size, statistics.largest_union, 100 * statistics.singleton_share);
    EXPECT_GT(statistics.union_size, last_union);
    EXPECT_LT(statistics.singleton_share, last_share);
    EXPECT_LT(statistics.union_size, statistics.items_per_user * static_cast<double>(group));
    last_union = statistics.union_size;
    last_share = statistics.singleton_share;
  }
  EXPECT_GT(last_share, 0.3) << "even in groups of a thousand many items belong to one reader";
}

TEST(BenchUnion, AnswersAgreeAndSparseIsSmaller) {
  const auto rows = bench_union();
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  for (const auto& row : *rows) {
    std::printf("%-42s %12.4g %-6s against %12.4g: %8.1f times\n", row.name.c_str(), row.ours,
                row.unit.c_str(), row.baseline, row.ratio);
    EXPECT_TRUE(row.unit != "bytes" || row.ratio > 10) << row.name;
  }
}

}  // namespace
}  // namespace sotto
