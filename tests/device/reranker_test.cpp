#include "device/rank/reranker.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "device/rank/pool_kernels.h"
#include "device/small_pack.h"

namespace sotto::device {
namespace {

using testing::random_floats;
using testing::small_pack;

// Written to be read: full vectors, a full sort.
std::vector<RankedItem> plain_ranking(const DevicePack& pack, std::vector<std::string> items,
                                      const std::vector<float>& user,
                                      const std::unordered_set<std::string>& seen, std::size_t count) {
  std::vector<RankedItem> ranked;
  for (const std::string& item : items) {
    if (seen.contains(item)) continue;
    const auto row = std::find(pack.items.ids.begin(), pack.items.ids.end(), item) - pack.items.ids.begin();
    std::vector<float> vector(pack.dimension);
    pack.items.vectors.floats_of_row(static_cast<std::size_t>(row), vector);
    double score = 0;
    for (std::size_t i = 0; i < vector.size(); ++i) score += static_cast<double>(vector[i]) * user[i];
    ranked.push_back({item, static_cast<float>(score)});
  }
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  ranked.resize(std::min(count, ranked.size()));
  return ranked;
}

void expect_same(const std::vector<RankedItem>& a, const std::vector<RankedItem>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].item, b[i].item);
    EXPECT_NEAR(a[i].score, b[i].score, 1e-4);
  }
}

TEST(Reranker, EqualsThePlainRanking) {
  const DevicePack pack = small_pack(300);
  const Reranker reranker(pack);
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    const std::vector<float> user = random_floats(random, testing::vector_size);
    std::vector<std::string> all = pack.items.ids;
    std::shuffle(all.begin(), all.end(), random);
    const std::unordered_set<std::string> seen(all.begin(), all.begin() + 30);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{10}, std::size_t{1000}}) {
      expect_same(reranker.rank_pool(user, {seen}, count), plain_ranking(pack, all, user, seen, count));
      const std::vector<std::string> some(all.begin() + 20, all.begin() + 120);
      expect_same(reranker.rank(some, user, {seen}, count), plain_ranking(pack, some, user, seen, count));
    }
  }
}

TEST(Reranker, BreaksTiesByIdAndKeepsUnknownItemsLast) {
  const DevicePack pack = small_pack(20);
  const Reranker reranker(pack);
  const std::vector<float> nobody(testing::vector_size, 0);
  const std::vector<std::string> items{"X2", "N5", "X1", "N11", "N5", "N3"};
  const auto ranked = reranker.rank(items, nobody, {{"N3"}}, 10);
  std::vector<std::string> order;
  for (const RankedItem& item : ranked) order.push_back(item.item);
  EXPECT_THAT(order, ::testing::ElementsAre("N11", "N5", "X2", "X1"));
  EXPECT_EQ(reranker.rank(items, nobody, {}, 3).size(), 3U);
}

// N0, N1, ... in three categories by turns; every fourth in German, every fourth in Swiss German, the others
// in none.
DevicePack pack_with_languages() {
  DevicePack pack = small_pack(40);
  pack.languages = {"de-CH", "de", "en"};
  for (std::size_t i = 0; i < pack.items.size(); ++i)
    pack.items.languages[i] = i % 4 == 0 ? 1 : i % 4 == 1 ? 0 : i % 4 == 2 ? 2 : no_language;
  return pack;
}

std::set<std::string> ids_of(const std::vector<RankedItem>& items) {
  std::set<std::string> ids;
  for (const RankedItem& item : items) ids.insert(item.item);
  return ids;
}

TEST(Reranker, LeavesOutWhatItsReaderDoesNotWant) {
  const DevicePack pack = pack_with_languages();
  const Reranker reranker(pack);
  const std::vector<float> user(pack.dimension, 0.3F);
  std::vector<std::string> all = pack.items.ids;
  PageFilter filter;
  filter.hidden = {all[0]};
  filter.blocked_categories = {pack.categories[1]};
  filter.languages = {"de"};
  std::set<std::string> expected;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (pack.items.categories[i] != 1 && pack.items.languages[i] != 2) expected.insert(all[i]);
  ASSERT_GT(expected.size(), 10U);
  ASSERT_LT(expected.size(), 30U);
  EXPECT_EQ(ids_of(reranker.rank_pool(user, filter, 100)), expected);
  EXPECT_EQ(ids_of(reranker.rank(all, user, filter, 100)), expected);
  EXPECT_EQ(ids_of(reranker.rank_scored({}, user, filter, 100)), expected);
  filter.languages = {"d"};  // not the beginning of a word, a language
  for (const std::string& item : ids_of(reranker.rank_pool(user, filter, 100)))
    EXPECT_EQ(
        pack.items.languages[static_cast<std::size_t>(std::find(all.begin(), all.end(), item) - all.begin())],
        no_language);
}

TEST(Reranker, SpreadsAPageOverCategoriesAsLongAsThereAreOthers) {
  const DevicePack pack = small_pack(40);
  const Reranker reranker(pack);
  const std::vector<float> user(pack.dimension, 0.3F);
  const auto times = [&](const std::vector<RankedItem>& page) {
    std::map<std::uint16_t, std::size_t> counted;
    for (const RankedItem& item : page)
      ++counted[pack.items.categories[static_cast<std::size_t>(
          std::find(pack.items.ids.begin(), pack.items.ids.end(), item.item) - pack.items.ids.begin())]];
    return counted;
  };
  PageFilter filter;
  filter.most_per_category = 2;
  const auto page = reranker.rank_pool(user, filter, 6);
  EXPECT_EQ(page.size(), 6U);
  for (const auto& [category, count] : times(page))
    EXPECT_TRUE(category == no_category || count <= 2) << category;
  EXPECT_EQ(page.front(), reranker.rank_pool(user, {}, 1).front()) << "the best stays the best";
  EXPECT_EQ(reranker.rank(pack.items.ids, user, filter, 6), page);
  // Too few others: the page is filled all the same.
  EXPECT_EQ(reranker.rank_pool(user, filter, 40).size(), 40U);
}

TEST(Reranker, SurvivesAModelThatAnswersNonsense) {
  const DevicePack pack = small_pack(20);
  const std::vector<float> nonsense(testing::vector_size, std::nanf(""));
  EXPECT_EQ(Reranker(pack).rank_pool(nonsense, {}, 5).size(), 5U);
  EXPECT_EQ(Reranker(pack).rank(pack.items.ids, nonsense, {}, 5).size(), 5U);
  EXPECT_TRUE(Reranker(small_pack(0)).rank_pool(nonsense, {}, 5).empty());
}

}  // namespace
}  // namespace sotto::device
