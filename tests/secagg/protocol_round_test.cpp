// The protocol as a whole: the sum of those who uploaded, or a clean failure.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "secagg/protocol_harness.h"

namespace sotto::secagg::testing_round {
namespace {

GroupParameters parameters(ThreatModel threat) {
  auto found = find_parameters(threat);
  EXPECT_TRUE(found) << found.error().message;
  return found.value_or(GroupParameters{});
}

// Loses what the clients of `lost` send in the phase named, and everything they would send later.
Tamper losing(std::map<std::uint32_t, ServerPhase> lost) {
  return [lost = std::move(lost)](std::uint32_t client, ServerPhase phase, Bytes message) {
    const auto found = lost.find(client);
    std::vector<Bytes> arrived;
    if (found == lost.end() || phase < found->second) arrived.push_back(std::move(message));
    return arrived;
  };
}

void expect_exact_sum(const Outcome& outcome, const Devices& devices) {
  ASSERT_EQ(outcome.phase, ServerPhase::done) << outcome.failure;
  EXPECT_EQ(outcome.sum, devices.plain_sum(outcome.summed));
}

TEST(SecureSum, IsExactWhenNobodyDropsOut) {
  for (const ServerModel server : {ServerModel::semi_honest, ServerModel::active}) {
    Devices devices(8, {100, 16}, 1);
    const auto outcome = run_round(
        devices, {.group = parameters({.clients = 8, .corrupted = 0.2, .dropping = 0.2, .server = server})});
    expect_exact_sum(outcome, devices);
    EXPECT_EQ(outcome.summed.count(), 8);
    EXPECT_TRUE(outcome.aborted.empty());
    EXPECT_TRUE(outcome.removed.empty());
  }
}

TEST(SecureSum, IsExactForEveryWidth) {
  for (const unsigned bits : {8U, 9U, 12U, 16U, 17U, 20U, 24U, 31U, 32U, 64U}) {
    Devices devices(4, {37, bits}, bits);
    const auto outcome = run_round(
        devices, {.group = parameters(
                      {.clients = 4, .corrupted = 0, .dropping = 0.25, .server = ServerModel::semi_honest})});
    expect_exact_sum(outcome, devices);
  }
}

TEST(SecureSum, SurvivesDropoutInEveryPhase) {
  for (const ServerModel server : {ServerModel::semi_honest, ServerModel::active}) {
    const auto group = parameters({.clients = 10, .corrupted = 0.1, .dropping = 0.2, .server = server});
    for (const ServerPhase phase : phases) {
      Devices devices(10, {33, 16}, 2);
      const auto outcome =
          run_round(devices, {.group = group, .to_server = losing({{2, phase}, {7, phase}})});
      expect_exact_sum(outcome, devices);
      const bool in_sum = phase > ServerPhase::uploading;
      EXPECT_EQ(outcome.summed.contains(2), in_sum);
      EXPECT_EQ(outcome.summed.count(), in_sum ? 10 : 8);
    }
  }
}

TEST(SecureSum, FailsCleanlyBelowTheThreshold) {
  for (const ServerModel server : {ServerModel::semi_honest, ServerModel::active}) {
    const auto group = parameters({.clients = 10, .corrupted = 0.1, .dropping = 0.2, .server = server});
    for (const ServerPhase phase : {ServerPhase::advertising, ServerPhase::sharing, ServerPhase::uploading}) {
      Devices devices(10, {33, 16}, 3);
      const auto outcome =
          run_round(devices, {.group = group, .to_server = losing({{1, phase}, {2, phase}, {7, phase}})});
      EXPECT_EQ(outcome.phase, ServerPhase::failed);
      EXPECT_NE(outcome.failure.find("are needed"), std::string::npos) << outcome.failure;
      // Nobody revealed anything.
      for (const auto& [key, bytes] : outcome.sent) EXPECT_NE(key.second, ServerPhase::unmasking);
    }
  }
}

TEST(SecureSum, UsesTheSparseGraphForLargeGroups) {
  const auto group =
      parameters({.clients = 300, .corrupted = 0.05, .dropping = 0.05, .server = ServerModel::semi_honest});
  ASSERT_LT(group.degree, 200);
  Devices devices(300, {20, 16}, 4);
  std::map<std::uint32_t, ServerPhase> lost;
  for (std::uint32_t i = 0; i < 15; ++i) lost[i * 19] = phases[i % 3];
  const auto outcome = run_round(devices, {.group = group, .to_server = losing(lost)});
  expect_exact_sum(outcome, devices);
  EXPECT_EQ(outcome.summed.count(), 285);
}

// Random groups, shapes and losses: within the tolerated number the sum is exact, beyond it no sum comes out.
RC_GTEST_PROP(SecureSum, IsExactOrFails, ()) {
  const auto clients = *rc::gen::inRange<std::uint32_t>(3, 14);
  const auto server = *rc::gen::element(ServerModel::semi_honest, ServerModel::active);
  const auto found = find_parameters({.clients = clients,
                                      .corrupted = *rc::gen::element(0.0, 0.1, 0.25),
                                      .dropping = *rc::gen::element(0.0, 0.15, 0.3),
                                      .server = server});
  RC_PRE(found.has_value());
  const unsigned bits = *rc::gen::element(8U, 13U, 16U, 23U, 32U, 64U);
  Devices devices(clients, {*rc::gen::inRange<std::uint64_t>(1, 70), bits},
                  *rc::gen::arbitrary<std::uint64_t>());
  const auto losses = *rc::gen::inRange<std::uint32_t>(0, found->dropped + 2);
  std::map<std::uint32_t, ServerPhase> lost;
  for (std::uint32_t i = 0; i < losses; ++i) {
    lost[*rc::gen::inRange<std::uint32_t>(0, clients)] =
        phases[*rc::gen::inRange<std::size_t>(0, std::size(phases))];
  }
  const auto outcome = run_round(devices, {.group = *found, .to_server = losing(lost)});
  if (lost.size() <= found->dropped) RC_ASSERT(outcome.phase == ServerPhase::done);
  if (outcome.phase == ServerPhase::done) {
    RC_ASSERT(outcome.sum == devices.plain_sum(outcome.summed));
    RC_ASSERT(outcome.summed.count() >= found->minimum_alive);
    for (std::uint32_t client = 0; client < clients; ++client) {
      const bool uploaded = !lost.contains(client) || lost[client] > ServerPhase::uploading;
      RC_ASSERT(outcome.summed.contains(client) == uploaded);
    }
  } else {
    RC_ASSERT(outcome.sum.empty());
  }
}

}  // namespace
}  // namespace sotto::secagg::testing_round
