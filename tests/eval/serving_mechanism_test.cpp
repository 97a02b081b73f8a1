#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/thread_pool.h"
#include "eval/experiments/serving/compared_mechanism.h"
#include "eval/serving_fixture.h"

namespace sotto::eval::private_serving {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class ComparedMechanisms : public ::testing::Test {
 protected:
  Rows serve(const char* family, std::size_t size, double epsilon, std::uint64_t seed = 3) const {
    return make_mechanism({family, size, epsilon}, known, 1).value()->serve(users, readers, seed).value();
  }
  AnswerPrivacy privacy(const char* family, std::size_t size, double epsilon) const {
    return make_mechanism({family, size, epsilon}, known, 1).value()->privacy();
  }
  double mean_cosine(const Rows& served) const {
    double sum = 0;
    for (std::size_t i = 0; i < served.size(); ++i) sum += cosine(served[i], readers[i]);
    return sum / static_cast<double>(served.size());
  }

  ServingScene scene = testing::normal_scene();
  PublicKnowledge known = PublicKnowledge::of(scene).value();
  Rows users = testing::normal_rows(3000, 6, 7, 0.7F);
  Rows readers = known.space.readers(users);
};

// Rows that differ from what the server makes of the true prototype, as a share. ε = ∞ tells that one, but
// posteriors differ by ε: readers with the same true prototype are compared instead.
double share_of_other_answers(const Rows& noisy, const Rows& exact) {
  std::map<std::vector<float>, std::map<std::vector<float>, int>> answers;  // by true prototype
  const auto copy = [](std::span<const float> row) { return std::vector<float>(row.begin(), row.end()); };
  for (std::size_t i = 0; i < noisy.size(); ++i) ++answers[copy(exact[i])][copy(noisy[i])];
  double other = 0;
  for (const auto& [truth, given] : answers) {
    int all = 0, most = 0;
    for (const auto& [answer, count] : given) all += count, most = std::max(most, count);
    other += all - most;
  }
  return other / static_cast<double>(noisy.size());
}

TEST_F(ComparedMechanisms, ResponsesAreWrongExactlyAsOftenAsEpsilonDemands) {
  constexpr std::size_t k = 8;
  const Rows exact = serve("prototypes-response", k, infinity);
  for (const double epsilon : {3.0, 5.0}) {
    const double wrong = (k - 1) / (std::exp(epsilon) + k - 1);
    const double error = std::sqrt(wrong * (1 - wrong) / static_cast<double>(users.size()));
    EXPECT_NEAR(share_of_other_answers(serve("prototypes-response", k, epsilon), exact), wrong, 4 * error);
  }
}

#ifdef SOTTO_HAVE_NET
TEST_F(ComparedMechanisms, BlindListsOrderWhatTheyHoldByTheTrueVector) {
  // Enough items for a dozen clusters.
  PublicKnowledge large = known;
  large.item_vectors = testing::normal_rows(20'000, 6, 5, 1.0F);
  const Rows few = testing::normal_rows(20, 6, 7, 0.7F);
  const auto length = [](std::span<const float> row) { return std::sqrt(publish::dot(row, row)); };
  double longest = 0;
  for (std::size_t item = 0; item < large.item_vectors.size(); ++item)
    longest = std::max<double>(longest, length(large.item_vectors[item]));
  double best_found = 0;
  for (const std::size_t probes : {1UL, 3UL}) {
    const auto mechanism = make_mechanism({"blind", probes, 0}, large, 1).value();
    EXPECT_EQ(mechanism->privacy().epsilon, 0);
    EXPECT_FALSE(mechanism->serve(few, few, 1));
    const auto lists = mechanism->returned(few).value();
    ASSERT_EQ(lists.size(), few.size());
    double found = 0;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const auto& items = lists[i].items;
      ASSERT_FALSE(items.empty());
      EXPECT_LE(items.size(), probes * 2048);  // so many clusters of the eleven
      EXPECT_EQ(std::set(items.begin(), items.end()).size(), items.size());
      std::size_t best = 0;
      for (std::size_t j = 0; j < items.size(); ++j)
        EXPECT_NEAR(lists[i].scores[j], publish::dot(few[i], large.item_vectors[items[j]]),
                    0.1 * length(few[i]) * longest);
      for (std::size_t item = 1; item < large.item_vectors.size(); ++item)
        if (publish::dot(few[i], large.item_vectors[item]) > publish::dot(few[i], large.item_vectors[best]))
          best = item;
      found += std::count(items.begin(), items.end(), best) > 0 ? 1 : 0;
    }
    EXPECT_GE(found / 20, best_found);
    best_found = found / 20;
  }
  EXPECT_GT(best_found, 0.8);
}
#endif

TEST_F(ComparedMechanisms, MoreBudgetRanksBetter) {
  for (const char* family : {"prototypes-response", "prototypes-similarity", "prototypes-pack",
                             "direction-laplace", "direction-gaussian"}) {
    const double low = mean_cosine(serve(family, 4, 1)), high = mean_cosine(serve(family, 4, 20)),
                 exact = mean_cosine(serve(family, 4, infinity));
    EXPECT_GT(high, low + 0.02) << family;
    EXPECT_GT(exact, high - 0.02) << family;
  }
}

TEST_F(ComparedMechanisms, WithoutBudgetTheServerRanksLikeTheAverageUser) {
  for (const char* family : {"prototypes-response", "prototypes-similarity", "prototypes-pack",
                             "direction-laplace", "direction-gaussian"}) {
    const Rows served = serve(family, 8, 0.001);
    for (std::size_t i = 0; i < served.size(); ++i)
      ASSERT_GT(cosine(served[i], known.average), 0.999) << family;
  }
}

TEST_F(ComparedMechanisms, AnAnswerThatIsMostlyChanceMovesNothing) {
  const Rows average = serve("average-user", 0, 0);
  for (const auto& [family, size] : std::vector<std::pair<const char*, std::size_t>>{
           {"prototypes-response", 64}, {"prototypes-pack", 64}, {"direction-laplace", 8}}) {
    const Rows served = serve(family, size, 0.5);
    for (std::size_t i = 0; i < served.size(); ++i)
      ASSERT_GT(cosine(served[i], served[0]), 1 - 1e-9) << family << ": the answer shows";
    EXPECT_NEAR(mean_cosine(served), mean_cosine(average), 0.01) << family;
  }
}

TEST_F(ComparedMechanisms, SoundOnesHoldWhatWasAskedAndPapersLess) {
  EXPECT_DOUBLE_EQ(*privacy("prototypes-response", 16, 2).epsilon, 2);
  EXPECT_DOUBLE_EQ(*privacy("prototypes-similarity", 16, 2).epsilon, 2);
  EXPECT_DOUBLE_EQ(*privacy("prototypes-pack", 16, 2).epsilon, 2);
  EXPECT_DOUBLE_EQ(*privacy("coefficients-laplace", 5, 2).epsilon, 2);
  EXPECT_DOUBLE_EQ(*privacy("direction-laplace", 4, 2).epsilon, 2);
  const AnswerPrivacy gaussian = privacy("direction-gaussian", 4, 2);
  EXPECT_NEAR(*gaussian.epsilon, 2, 1e-3);
  EXPECT_EQ(gaussian.delta, gaussian_delta);
  // Two attention vectors can be 2 apart in L1, the paper's θ is 1; Laplace noise on an L2 clip costs √d.
  EXPECT_NEAR(*privacy("coefficients-paper", 5, 2).epsilon, 4, 1e-9);
  EXPECT_NEAR(*privacy("vdp-paper", 0, 2).epsilon, 2 * std::sqrt(6.0), 1e-9);
  EXPECT_EQ(privacy("vdp-paper", 0, 2).claimed, 2);
  EXPECT_FALSE(privacy("non-private", 0, infinity).epsilon.has_value());
  EXPECT_FALSE(privacy("prototypes-response", 16, infinity).epsilon.has_value());
  EXPECT_EQ(*privacy("average-user", 0, 0).epsilon, 0);
}

// Two readers as far apart as can be: no answer may be e^ε times likelier for one of them.
TEST_F(ComparedMechanisms, AnswersOfOppositeReadersStayWithinTheBudget) {
  constexpr double epsilon = 3;
  constexpr std::size_t draws = 40000;
  Rows one(1, 6), other(1, 6);
  one[0][5] = 1, other[0][5] = -1;
  for (const char* family : {"prototypes-response", "prototypes-similarity", "prototypes-pack"}) {
    const auto mechanism = make_mechanism({family, 4, epsilon}, known, 1).value();
    std::map<std::vector<float>, std::pair<double, double>> counts;
    const Rows many = repeated(one[0], draws), opposite = repeated(other[0], draws);
    const Rows a = mechanism->serve(many, known.space.readers(many), 5).value(),
               b = mechanism->serve(opposite, known.space.readers(opposite), 6).value();
    for (std::size_t i = 0; i < draws; ++i) {
      counts[{a[i].begin(), a[i].end()}].first += 1;
      counts[{b[i].begin(), b[i].end()}].second += 1;
    }
    double largest = 0;
    for (const auto& [answer, count] : counts)
      largest = std::max(largest, std::abs(std::log(count.first / count.second)));
    EXPECT_LT(largest, epsilon + 0.08) << family;
    EXPECT_GT(largest, 0.2 * epsilon) << family;  // the budget is used
  }
}

TEST_F(ComparedMechanisms, DrawsDoNotDependOnThreads) {
  const int before = thread_count();
  set_thread_count(1);
  const Rows alone = serve("prototypes-similarity", 16, 2);
  set_thread_count(3);
  const Rows together = serve("prototypes-similarity", 16, 2);
  set_thread_count(before);
  EXPECT_EQ(alone.values, together.values);
  EXPECT_NE(alone.values, serve("prototypes-similarity", 16, 2, 4).values);
}

TEST_F(ComparedMechanisms, MorePrototypesTellMoreWithoutNoise) {
  double before = mean_cosine(serve("average-user", 0, 0));
  for (const std::size_t size : {4U, 32U, 256U}) {
    const double now = mean_cosine(serve("prototypes-response", size, infinity));
    EXPECT_GT(now, before);
    before = now;
  }
}

}  // namespace
}  // namespace sotto::eval::private_serving
