// The live pool: catalogue, vectors and indexes in step, through changes, restarts and new models.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "pool_fixture.h"
#include "serving/dot_kernels.h"
#include "test_paths.h"

namespace sotto::serving {
namespace {

using namespace pool_test;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// The ranking by the definition: the mixed direction times every article's vector.
std::vector<std::string> best_by_hand(const ServingModel::Parts& parts,
                                      const std::vector<CatalogueItem>& items,
                                      const std::vector<float>& direction, std::size_t count) {
  const auto& encoder = static_cast<const TitleEncoder&>(*parts.encoder);
  std::vector<std::pair<double, std::string>> scored;
  for (const CatalogueItem& item : items) {
    const auto vector = encoder.vector_of(item.title);
    double score = 0;
    for (std::size_t d = 0; d < dimension; ++d) score += static_cast<double>(direction[d]) * vector[d];
    scored.emplace_back(-score, item.id);
  }
  std::sort(scored.begin(), scored.end());
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(scored[i].second);
  return ids;
}

TEST(LivePool, RanksByMixturesPrototypesAndTheAverageUser) {
  const TempFolder folder;
  auto given = parts("v1");
  given.average_share = 0.25;
  const auto pool = open(folder / "c", ServingModel::create(given).value());
  const auto items = articles(0, 200);
  ASSERT_TRUE(pool->put(items));
  std::vector<float> mixed(dimension), prototype(dimension);
  const std::vector<float> weights{0.5F, 0.2F, 0.3F};
  for (std::size_t d = 0; d < dimension; ++d) {
    for (std::size_t b = 0; b < basis_vectors; ++b) mixed[d] += weights[b] * given.basis[b * dimension + d];
    prototype[d] = 0.75F * given.prototypes[2 * dimension + d] + 0.25F * given.average_user[d];
  }
  const auto current = pool->current();
  EXPECT_EQ(ids_of(*pool, current->search(mixture(weights, 20)).value()),
            best_by_hand(given, items, mixed, 20));
  PoolQuery by_prototype;
  by_prototype.prototypes = {2};
  EXPECT_EQ(ids_of(*pool, current->search(by_prototype).value()), best_by_hand(given, items, prototype, 10));
  EXPECT_EQ(ids_of(*pool, current->search({}).value()), best_by_hand(given, items, given.average_user, 10));
}

TEST(LivePool, ChangesAreSearchableAtOnceAndSurviveARestart) {
  const TempFolder folder;
  std::vector<std::string> before;
  {
    const auto pool = open(folder / "c");
    ASSERT_TRUE(pool->put(articles(0, 50)));
    const auto best = ids_of(*pool, pool->current()->search(mixture({1, 0, 0})).value());
    EXPECT_EQ(pool->remove(std::vector{best[0]}).value(), 1U);
    EXPECT_EQ(pool->remove(std::vector{best[0]}).value(), 0U);
    before = ids_of(*pool, pool->current()->search(mixture({1, 0, 0})).value());
    EXPECT_THAT(before, Not(Contains(best[0])));
  }
  const auto pool = open(folder / "c");
  EXPECT_EQ(ids_of(*pool, pool->current()->search(mixture({1, 0, 0})).value()), before);
}

TEST(LivePool, OldItemsLeaveWhenMaintained) {
  const TempFolder folder;
  const auto pool = open(folder / "c", model("v1"), 100);
  ASSERT_TRUE(pool->put({article(1, 1000), article(2, 2000)}));
  ASSERT_TRUE(pool->maintain(2050));
  EXPECT_EQ(pool->catalogue().size(), 1U);
  EXPECT_EQ(pool->current()->size(), 1U);
}

TEST(LivePool, ANewModelRanksEverythingAnewAndTheOldOneStillAnswers) {
  const TempFolder folder;
  const auto pool = open(folder / "c");
  const auto items = articles(0, 100);
  ASSERT_TRUE(pool->put(items));
  const auto old_answer = pool->current()->search(mixture({0, 1, 0})).value();
  ASSERT_TRUE(pool->replace_model(model("v2")));
  EXPECT_EQ(pool->current()->model().version(), "v2");
  EXPECT_EQ(pool->of_version("v1")->search(mixture({0, 1, 0})).value(), old_answer);
  const auto second = parts("v2");
  const std::vector<float> direction(second.basis.begin() + dimension, second.basis.begin() + 2 * dimension);
  EXPECT_EQ(ids_of(*pool, pool->current()->search(mixture({0, 1, 0})).value()),
            best_by_hand(second, items, direction, 5));
  // Both follow later changes; the oldest goes when the third comes.
  ASSERT_TRUE(pool->put(articles(100, 10)));
  EXPECT_EQ(pool->of_version("v1")->size(), 110U);
  EXPECT_EQ(pool->of_version("v2")->size(), 110U);
  EXPECT_THAT(pool->replace_model(model("v1")).error().message, HasSubstr("served already"));
  ASSERT_TRUE(pool->replace_model(model("v3")));
  EXPECT_EQ(pool->of_version("v1"), nullptr);
}

TEST(LivePool, WithoutAnEncoderItemsMustBringTheirVectors) {
  const TempFolder folder;
  auto without = parts("v1");
  without.encoder = nullptr;
  const auto pool = open(folder / "c", ServingModel::create(without).value());
  EXPECT_THAT(pool->put({article(1)}).error().message, HasSubstr("send the vector"));
  auto item = article(1);
  item.vector = random_vector(1);
  item.encoded_by = "v1";
  EXPECT_TRUE(pool->put({item}));
  item.vector.pop_back();
  EXPECT_THAT(pool->put({item}).error().message, HasSubstr("7 numbers where model v1 has 8"));
  EXPECT_EQ(pool->catalogue().size(), 1U);
}

TEST(LivePool, TellsWhatIsWrongWithAQuery) {
  const TempFolder folder;
  const auto pool = open(folder / "c");
  const auto message = [&](const PoolQuery& query) { return pool->current()->search(query).error().message; };
  EXPECT_THAT(message(mixture({1, 0})), HasSubstr("2 coefficients were sent where model v1 has 3"));
  EXPECT_THAT(message(mixture({1, 0.5F, -0.5F})), HasSubstr("coefficient 2 is -0.5"));
  EXPECT_THAT(message(mixture({1, 0.5F, 0.5F})), HasSubstr("sum to 2"));
  EXPECT_THAT(message(mixture({NAN, 0.5F, 0.5F})), HasSubstr("coefficient 0 is nan"));
  EXPECT_THAT(message(mixture({1, 0, 0}, 0)), HasSubstr("ask for 1 to"));
  PoolQuery prototype;
  prototype.prototypes = {4};  // the average user is not for asking by number
  EXPECT_THAT(message(prototype), HasSubstr("prototype 4 was named where model v1 has 4"));
}

TEST(LivePool, RefusesModelsThatCannotBeServed) {
  const auto message = [](const std::function<void(ServingModel::Parts&)>& spoil) {
    auto spoiled = parts("v1");
    spoil(spoiled);
    return ServingModel::create(spoiled).error().message;
  };
  EXPECT_THAT(message([](auto& p) { p.version = ""; }), HasSubstr("version"));
  EXPECT_THAT(message([](auto& p) { p.average_user.pop_back(); }), HasSubstr("average user"));
  EXPECT_THAT(message([](auto& p) { p.average_share = 1.5; }), HasSubstr("choose 0 to 1"));
  EXPECT_THAT(message([](auto& p) { p.basis.pop_back(); }), HasSubstr("basis vectors"));
  EXPECT_THAT(message([](auto& p) { p.prototypes[0] = INFINITY; }),
              HasSubstr("prototypes hold the number inf"));
}

// Ingestion, removal, expiry, compaction, a new model and queries at the same time. Run under ThreadSanitizer
// too.
TEST(LivePoolThreads, EverythingAtOnce) {
  const TempFolder folder;
  const auto pool = open(folder / "c", model("v1"), 5000);
  std::atomic<bool> done{false};
  std::atomic<int> answers{0}, wrong{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      while (!done) {
        const auto current = pool->current();
        const auto found = current->search(mixture({0.2F, 0.3F, 0.5F}, 10));
        const auto popular = current->search({});
        if (!found || !popular || !std::is_sorted(found->begin(), found->end(), ranks_before)) ++wrong;
        if (found) pool->catalogue().find(*found);
        ++answers;
      }
    });
  }
  int number = 0;
  for (int round = 0; round < 40 || answers < 20; ++round) {
    ASSERT_TRUE(pool->put(articles(number, 25)));
    number += 25;
    ASSERT_TRUE(pool->remove(std::vector{"n" + std::to_string(number - 3)}));
    if (round % 10 == 5) {
      ASSERT_TRUE(pool->replace_model(model("v" + std::to_string(round))));
    }
    if (round % 10 == 7) {
      ASSERT_TRUE(pool->maintain(2000));
    }
  }
  done = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(pool->current()->size(), pool->catalogue().size());
}

}  // namespace
}  // namespace sotto::serving
