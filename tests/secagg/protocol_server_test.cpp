// The server: bad clients cost themselves, and a failed round leaves nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>

#include "secagg/protocol_harness.h"
#include "secagg/shared/neighbour_graph.h"

// A sanitizer has an allocator of its own.
extern "C" __attribute__((weak)) std::size_t __sanitizer_get_current_allocated_bytes();

namespace sotto::secagg::testing_round {
namespace {

using ::testing::HasSubstr;

std::size_t allocated_bytes() {
  return __sanitizer_get_current_allocated_bytes != nullptr ? __sanitizer_get_current_allocated_bytes()
                                                            : mallinfo2().uordblks;
}

GroupParameters group_of(std::uint32_t clients, ServerModel server) {
  const auto group =
      find_parameters({.clients = clients, .corrupted = 0.1, .dropping = 0.2, .server = server});
  EXPECT_TRUE(group) << group.error().message;
  return group.value_or(GroupParameters{});
}

TEST(Server, RefusesMessagesOfTheWrongPhaseAndOfStrangers) {
  Devices devices(10, {20, 16}, 5);
  auto server = SecAggServer::create(group_of(10, ServerModel::semi_honest), devices.shape, any_order_hash,
                                     devices.registry, devices.random);
  ASSERT_TRUE(server);
  EXPECT_FALSE(server->receive(10, Bytes(10)));
  EXPECT_FALSE(server->receive(1U << 31, Bytes(10)));
  EXPECT_FALSE(server->message_for(10));
  const auto early = server->receive(0, encode(ArrivalsSignature{}));
  EXPECT_THAT(early.error().message, HasSubstr("another kind"));
  EXPECT_FALSE(server->takes_part(0));
  EXPECT_TRUE(server->takes_part(1));
}

TEST(Server, SaysWhenKeysAreFromAnotherRound) {
  Devices devices(10, {20, 16}, 5);
  const RoundSettings settings{.group = group_of(10, ServerModel::semi_honest)};
  const auto earlier = run_round(devices, settings);
  auto server =
      SecAggServer::create(settings.group, devices.shape, any_order_hash, devices.registry, devices.random);
  ASSERT_TRUE(server);
  const auto taken = server->receive(0, earlier.sent.at({0, ServerPhase::advertising}));
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("another round"));
}

TEST(Server, RefusesSharesThatAreNoFieldElements) {
  Devices devices(10, {20, 16}, 5);
  const auto outcome =
      run_round(devices, {.group = group_of(10, ServerModel::semi_honest),
                          .to_server = [](std::uint32_t client, ServerPhase phase, Bytes message) {
                            if (client == 4 && phase == ServerPhase::unmasking) {
                              auto revealed = *decode_revealed_shares(message, 10);
                              revealed.shares.back().share.fill(0xff);
                              message = encode(revealed);
                            }
                            return std::vector<Bytes>{message};
                          }});
  EXPECT_THAT(outcome.removed.at(4), HasSubstr("is not the one it was dealt"));
  EXPECT_EQ(outcome.phase, ServerPhase::done) << outcome.failure;
}

TEST(Server, RefusesVersionsItDoesNotSpeak) {
  Devices devices(10, {20, 16}, 5);
  const auto outcome =
      run_round(devices, {.group = group_of(10, ServerModel::semi_honest),
                          .to_server = [](std::uint32_t client, ServerPhase phase, Bytes message) {
                            if (client == 2 && phase == ServerPhase::advertising) {
                              // The version is the only 16-bit field with this value in the message's root
                              // table.
                              for (std::size_t i = 0; i + 1 < 64; ++i) {
                                Bytes other = message;
                                other[i] = protocol_version + 1;
                                const auto read = decode_advertisement(other);
                                if (!read && read.error().message.find("version") != std::string::npos)
                                  message = other;
                              }
                            }
                            return std::vector<Bytes>{message};
                          }});
  EXPECT_THAT(outcome.removed.at(2), HasSubstr("version"));
  EXPECT_EQ(outcome.phase, ServerPhase::done);
}

TEST(Server, KeepsNothingOfAFailedRound) {
  Devices devices(10, {20, 16}, 5);
  auto server = SecAggServer::create(group_of(10, ServerModel::semi_honest), devices.shape, any_order_hash,
                                     devices.registry, devices.random);
  ASSERT_TRUE(server);
  EXPECT_FALSE(server->close_phase());
  EXPECT_EQ(server->phase(), ServerPhase::failed);
  EXPECT_THAT(server->failure(), HasSubstr("advertising"));
  EXPECT_EQ(server->sum().size(), 0U);
  EXPECT_FALSE(server->close_phase());
  EXPECT_FALSE(server->receive(0, Bytes(10)));
  EXPECT_FALSE(server->message_for(0));
}

// Groups that fail come again and again, if somebody wants them to.
TEST(Server, LetsGoOfTheLettersOfAFailedRound) {
  constexpr std::uint32_t clients = 40;
  Devices devices(clients, {20, 16}, 5);
  const GroupParameters group = group_of(clients, ServerModel::active);
  auto server =
      SecAggServer::create(group, devices.shape, any_order_hash, devices.registry, devices.random).value();
  std::vector<SecAggClient> joined;
  for (std::uint32_t i = 0; i < clients; ++i)
    joined.push_back(SecAggClient::join(server.message_for(i).value(), policy_for(group, devices.shape),
                                        devices.identities[i], devices.registry,
                                        privacy::DeviceRandom::simulated(devices.random))
                         .value());
  for (const ServerPhase phase : {ServerPhase::advertising, ServerPhase::sharing}) {
    for (std::uint32_t i = 0; i < clients; ++i)
      ASSERT_TRUE(server.receive(
          i, answer(joined[i], phase, server.message_for(i).value(), devices.inputs[i], 16).value()));
    ASSERT_TRUE(server.close_phase());
  }
  const std::size_t before = allocated_bytes();
  server.abandon("no room");
  EXPECT_EQ(server.phase(), ServerPhase::failed);
  EXPECT_EQ(server.failure(), "no room");
  EXPECT_LT(allocated_bytes() + clients * (clients - 1) * 200, before) << "a letter has 212 bytes";
  EXPECT_FALSE(server.message_for(0));
  EXPECT_FALSE(server.answer_to(0, ServerPhase::sharing));
  EXPECT_FALSE(server.receive(0, Bytes(10)));
}

TEST(Groups, SumsMergeToTheSumOfTheCohort) {
  const VectorShape shape{30, 12};
  Devices cohort(24, shape, 9);
  const auto groups = split_into_groups(24, 8, Digest{3});
  ASSERT_TRUE(groups);
  auto total = RingVector::zeros(shape.entries, shape.bits);
  MemberSet everybody(24);
  for (const auto& members : *groups) {
    Devices group(static_cast<std::uint32_t>(members.size()), shape, members[0]);
    for (std::size_t i = 0; i < members.size(); ++i) {
      group.inputs[i] = cohort.inputs[members[i]];
      everybody.insert(members[i]);
    }
    const auto outcome = run_round(group, {.group = group_of(8, ServerModel::semi_honest)});
    ASSERT_EQ(outcome.phase, ServerPhase::done);
    ASSERT_TRUE(total->add(*RingVector::of(std::span<const std::uint64_t>(outcome.sum), shape.bits)));
  }
  EXPECT_EQ(total->entries(), cohort.plain_sum(everybody));
}

}  // namespace
}  // namespace sotto::secagg::testing_round
