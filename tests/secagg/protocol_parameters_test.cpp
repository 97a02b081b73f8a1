// Parameters from threat models, the graph, and groups.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <set>

#include "base/distributions.h"
#include "base/random.h"
#include "secagg/shared/neighbour_graph.h"
#include "secagg/shared/parameters.h"

namespace sotto::secagg {
namespace {

TEST(Hypergeometric, CountsLikeAllSubsets) {
  // 4 of 9 marked, 3 drawn: all 84 subsets.
  std::array<double, 4> counts{};
  for (unsigned subset = 0; subset < 1U << 9; ++subset) {
    if (std::popcount(subset) == 3) ++counts[static_cast<std::size_t>(std::popcount(subset & 0xfU))];
  }
  const auto logs = Hypergeometric{9, 4, 3}.log_probabilities();
  for (std::size_t j = 0; j < counts.size(); ++j) EXPECT_NEAR(std::exp(logs[j]), counts[j] / 84, 1e-12);
  EXPECT_TRUE(std::isinf(Hypergeometric({9, 2, 3}).log_probabilities()[3]));
}

// What really happens when `corrupted` and `dropped` fixed clients meet random graphs.
struct Frequencies {
  double too_many_corrupted = 0, disconnected = 0, too_few_shares = 0;
};

Frequencies simulate(const GroupParameters& group, int rounds, std::uint64_t seed) {
  SeededRandom random(seed, Purpose::test);
  Frequencies result;
  const auto corrupted = [&](std::uint32_t client) { return client < group.corrupted; };
  const auto dropped = [&](std::uint32_t client) {
    return client >= group.corrupted && client < group.corrupted + group.dropped;
  };
  for (int round = 0; round < rounds; ++round) {
    Digest graph_seed{};
    for (auto& byte : graph_seed) byte = static_cast<std::uint8_t>(random());
    const NeighbourGraph graph(group.clients, group.degree, graph_seed);
    bool many = false, few = false;
    for (std::uint32_t client = 0; client < group.clients; ++client) {
      const auto neighbours = graph.neighbours(client);
      const auto count = [&](auto which) {
        return static_cast<std::uint32_t>(std::count_if(neighbours.begin(), neighbours.end(), which));
      };
      many |= !corrupted(client) && count(corrupted) >= group.threshold;
      few |= group.degree - count(dropped) < group.threshold;
    }
    std::vector<bool> reached(group.clients);
    std::queue<std::uint32_t> open;
    const std::uint32_t start = group.corrupted + group.dropped;
    open.push(start);
    reached[start] = true;
    std::uint32_t count = 1;
    for (; !open.empty(); open.pop()) {
      for (const std::uint32_t next : graph.neighbours(open.front())) {
        if (corrupted(next) || dropped(next) || reached[next]) continue;
        reached[next] = true;
        ++count;
        open.push(next);
      }
    }
    result.too_many_corrupted += many;
    result.too_few_shares += few;
    result.disconnected += count < group.clients - group.corrupted - group.dropped;
  }
  result.too_many_corrupted /= rounds;
  result.too_few_shares /= rounds;
  result.disconnected /= rounds;
  return result;
}

// Groups too weak to be offered, so that failures are seen often. The bounds must hold (up to five standard
// errors) and must not be empty: the failures do happen.
TEST(FailureBounds, HoldInSimulation) {
  constexpr int round_count = 20000;
  const GroupParameters weak[] = {
      {.clients = 12, .corrupted = 3, .dropped = 3, .degree = 4, .threshold = 3},
      {.clients = 16, .corrupted = 3, .dropped = 4, .degree = 4, .threshold = 2},
      {.clients = 24, .corrupted = 6, .dropped = 5, .degree = 6, .threshold = 4},
      {.clients = 40, .corrupted = 12, .dropped = 12, .degree = 8, .threshold = 5},
  };
  for (const auto& group : weak) {
    const auto seen = simulate(group, round_count, group.clients);
    const auto bounds = failure_bounds(group);
    const auto expect_below = [&](double frequency, double bound_bits) {
      const double bound = std::min(1.0, std::exp2(bound_bits));
      EXPECT_LE(frequency, bound + 5 * std::sqrt(bound / round_count)) << group.clients;
      EXPECT_GT(frequency, 0) << group.clients;
    };
    expect_below(seen.too_many_corrupted, bounds.too_many_corrupted);
    expect_below(seen.disconnected, bounds.disconnected);
    expect_below(seen.too_few_shares, bounds.too_few_shares);
  }
}

RC_GTEST_PROP(Parameters, FoundOnesPassTheirOwnCheckAndFewerNeighboursOrOtherNumbersDoNot, ()) {
  const ThreatModel threat{.clients = *rc::gen::inRange<std::uint32_t>(3, 2000),
                           .corrupted = *rc::gen::inRange(0, 45) / 100.0,
                           .dropping = *rc::gen::inRange(0, 45) / 100.0,
                           .server = *rc::gen::element(ServerModel::semi_honest, ServerModel::active)};
  const auto group = find_parameters(threat);
  RC_PRE(group.has_value());
  RC_ASSERT(check_parameters(*group).has_value());
  RC_ASSERT(group->corrupted >= threat.corrupted * threat.clients - 1e-6);
  RC_ASSERT(group->threshold > group->corrupted || group->degree + 1 < group->clients);
  auto worse = *group;
  worse.minimum_alive -= 1;
  RC_ASSERT(!check_parameters(worse));
  worse = *group;
  worse.threshold = group->degree + 1;
  RC_ASSERT(!check_parameters(worse));
  worse = *group;
  worse.threshold = 1;
  RC_ASSERT(!check_parameters(worse));
  if (group->server == ServerModel::active) {
    worse = *group;
    worse.quorum -= 1;
    RC_ASSERT(!check_parameters(worse));
    worse = *group;
    worse.threshold -= 1;
    RC_ASSERT(!check_parameters(worse));
  }
}

// Against an active server: any two quorums share an honest signer, and a client's two secrets together need
// more shares than the others can reveal, an honest one revealing one kind and a corrupted one both.
RC_GTEST_PROP(Parameters, ActiveServersCannotSplitTheView, ()) {
  const auto group = find_parameters({.clients = *rc::gen::inRange<std::uint32_t>(3, 3000),
                                      .corrupted = *rc::gen::inRange(0, 60) / 100.0,
                                      .dropping = *rc::gen::inRange(0, 40) / 100.0,
                                      .server = ServerModel::active});
  RC_PRE(group.has_value());
  RC_ASSERT(2 * group->quorum > group->clients + group->corrupted);
  const auto honest_others = group->clients - 1 - group->corrupted;
  RC_ASSERT(2 * group->threshold > honest_others + 2 * group->corrupted);
  RC_ASSERT(group->minimum_alive >= group->corrupted + 2);
}

TEST(Parameters, RefusesWhatCannotBeSafe) {
  const auto reason = [](ThreatModel threat) {
    const auto found = find_parameters(threat);
    return found ? std::string("accepted") : found.error().message;
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(reason({.clients = 2, .corrupted = 0, .dropping = 0, .server = ServerModel::semi_honest}),
              HasSubstr("3 to 65535"));
  EXPECT_THAT(reason({.clients = 70000, .corrupted = 0, .dropping = 0, .server = ServerModel::semi_honest}),
              HasSubstr("split into groups"));
  EXPECT_THAT(reason({.clients = 10, .corrupted = 0.5, .dropping = 0.5, .server = ServerModel::semi_honest}),
              HasSubstr("hides nothing"));
  EXPECT_THAT(reason({.clients = 10, .corrupted = -0.1, .dropping = 0, .server = ServerModel::semi_honest}),
              HasSubstr("[0, 1)"));
  EXPECT_THAT(
      reason({.clients = 10, .corrupted = 0, .dropping = std::nan(""), .server = ServerModel::semi_honest}),
      HasSubstr("[0, 1)"));
  EXPECT_THAT(reason({.clients = 10,
                      .corrupted = 0,
                      .dropping = 0,
                      .server = ServerModel::semi_honest,
                      .security_bits = 10}),
              HasSubstr("statistical security"));
  EXPECT_THAT(reason({.clients = 50, .corrupted = 0.34, .dropping = 0.34, .server = ServerModel::active}),
              HasSubstr("must stay"));
}

TEST(Parameters, KeepTheDegreeLogarithmic) {
  const auto hundred = find_parameters(
      {.clients = 100, .corrupted = 0.1, .dropping = 0.1, .server = ServerModel::semi_honest});
  const auto many = find_parameters(
      {.clients = 50000, .corrupted = 0.1, .dropping = 0.1, .server = ServerModel::semi_honest});
  ASSERT_TRUE(hundred && many);
  EXPECT_LT(many->degree, 4 * hundred->degree);
}

RC_GTEST_PROP(NeighbourGraph, IsRegularAndMutual, ()) {
  const auto clients = *rc::gen::inRange<std::uint32_t>(3, 80);
  const bool complete = *rc::gen::arbitrary<bool>();
  const std::uint32_t degree =
      complete ? clients - 1 : 2 * *rc::gen::inRange<std::uint32_t>(1, (clients - 1) / 2 + 1);
  const NeighbourGraph graph(clients, degree, Digest{*rc::gen::arbitrary<std::uint8_t>()});
  for (std::uint32_t a = 0; a < clients; ++a) {
    const auto neighbours = graph.neighbours(a);
    RC_ASSERT(neighbours.size() == degree);
    RC_ASSERT(std::is_sorted(neighbours.begin(), neighbours.end()));
    const std::set<std::uint32_t> set(neighbours.begin(), neighbours.end());
    RC_ASSERT(set.size() == degree);
    for (std::uint32_t b = 0; b < clients; ++b) {
      RC_ASSERT(graph.joined(a, b) == set.contains(b));
      RC_ASSERT(graph.joined(a, b) == graph.joined(b, a));
    }
  }
}

TEST(Groups, PartitionTheCohortEvenlyAndReproducibly) {
  const auto groups = split_into_groups(1003, 100, Digest{1});
  ASSERT_TRUE(groups);
  std::set<std::uint32_t> seen;
  for (const auto& group : *groups) {
    EXPECT_GE(group.size(), 91U);
    EXPECT_LE(group.size(), 92U);
    seen.insert(group.begin(), group.end());
  }
  EXPECT_EQ(groups->size(), 11U);
  EXPECT_EQ(seen.size(), 1003U);
  EXPECT_EQ(*groups, *split_into_groups(1003, 100, Digest{1}));
  EXPECT_NE(*groups, *split_into_groups(1003, 100, Digest{2}));
  EXPECT_FALSE(split_into_groups(4, 3, Digest{}));
  EXPECT_FALSE(split_into_groups(10, 2, Digest{}));
}

TEST(Groups, AreBuiltForTheWorstOfThemNotTheAverage) {
  const ThreatModel cohort{
      .clients = 10000, .corrupted = 0.1, .dropping = 0.1, .server = ServerModel::semi_honest};
  const auto group = group_threat(cohort, 100);
  ASSERT_TRUE(group);
  EXPECT_GT(group->corrupted, group->dropping);  // 40 bits against 20
  EXPECT_GT(group->dropping, 0.1);
  EXPECT_LT(group->corrupted, 0.5);
  // One group that is the whole cohort has exactly its fractions.
  const auto whole = group_threat(cohort, 10000);
  ASSERT_TRUE(whole);
  EXPECT_DOUBLE_EQ(whole->corrupted, 0.1);
}

}  // namespace
}  // namespace sotto::secagg
