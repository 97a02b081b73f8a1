// The server: bad clients cost themselves, shares that lie are found out, memory stays small.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "secagg/protocol_harness.h"
#include "secagg/server/seed_recovery.h"
#include "secagg/shared/groups.h"

namespace sotto::testing_round {
namespace {

using testing::HasSubstr;

GroupParameters group_of(std::uint32_t clients, ServerModel server) {
  const auto group =
      find_parameters({.clients = clients, .corrupted = 0.1, .dropping = 0.2, .server = server});
  EXPECT_TRUE(group) << group.error().message;
  return group.value_or(GroupParameters{});
}

// A seed shared among `holders`, of whose shares some are then replaced.
SharedSeed shared_seed(const Seed& seed, std::uint32_t owner, std::uint32_t threshold, std::uint32_t holders,
                       RandomSource& random) {
  SharedSeed secret{owner, {}, [expected = std::make_shared<Seed>(seed.copy())](const Seed& found) {
                      return found.equals(*expected);
                    }};
  const SecretPolynomial polynomial(seed, threshold, DeviceRandom::simulated(random));
  for (std::uint32_t point = 1; point <= holders; ++point) {
    SharePoint& share = secret.shares.emplace_back();
    share.point = point;
    const Share value = polynomial.share_at(point);
    std::copy(value.view().begin(), value.view().end(), share.share.begin());
  }
  return secret;
}

TEST(SeedRecovery, FindsTheSeedDespiteOneLiarWhereverItStands) {
  SeededRandom random(1, Purpose::test);
  const Seed seed = Seed::random(DeviceRandom::simulated(random));
  // One share more than needed: a random choice would hardly ever leave out just the wrong one.
  for (const std::size_t liar : {0U, 60U, 99U, 149U, 150U}) {
    auto secret = shared_seed(seed, 4, 150, 151, random);
    secret.shares[liar].share[0] ^= 1;
    const auto found = recover_seeds(std::vector{secret}, 150);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_TRUE((*found)[0].equals(seed));
  }
}

TEST(SeedRecovery, DoesNotBelieveAKnownLiarAgain) {
  SeededRandom random(2, Purpose::test);
  const Seed seed = Seed::random(DeviceRandom::simulated(random));
  std::vector<SharedSeed> secrets;
  for (std::uint32_t owner = 0; owner < 20; ++owner) {
    secrets.push_back(shared_seed(seed, owner, 10, 20, random));
    for (const std::size_t liar : {2U, 3U, 5U, 7U}) secrets.back().shares[liar].share = {};
  }
  const auto found = recover_seeds(secrets, 10);
  ASSERT_TRUE(found) << found.error().message;
  for (const Seed& one : *found) EXPECT_TRUE(one.equals(seed));
}

TEST(SeedRecovery, GivesUpOnNonsenseAndNamesTheDealer) {
  SeededRandom random(3, Purpose::test);
  const Seed seed = Seed::random(DeviceRandom::simulated(random));
  auto nonsense = shared_seed(seed, 11, 5, 9, random);
  for (auto& share : nonsense.shares) share.share[1] ^= static_cast<std::uint8_t>(share.point);
  EXPECT_THAT(recover_seeds(std::vector{nonsense}, 5).error().message, HasSubstr("client 11"));
  auto few = shared_seed(seed, 12, 5, 4, random);
  EXPECT_THAT(recover_seeds(std::vector{few}, 5).error().message, HasSubstr("client 12"));
}

TEST(Server, RefusesMessagesOfTheWrongPhaseAndOfStrangers) {
  Devices devices(10, {20, 16}, 5);
  auto server = SecAggServer::create(group_of(10, ServerModel::semi_honest), devices.shape, kOrderHash,
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
      SecAggServer::create(settings.group, devices.shape, kOrderHash, devices.registry, devices.random);
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
  EXPECT_THAT(outcome.removed.at(4), HasSubstr("is not one"));
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
                                other[i] = kProtocolVersion + 1;
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
  auto server = SecAggServer::create(group_of(10, ServerModel::semi_honest), devices.shape, kOrderHash,
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

TEST(Server, SurvivesLyingNeighboursUpToTheSpareShares) {
  Devices devices(12, {20, 16}, 5);
  const auto group = group_of(12, ServerModel::active);
  const auto outcome = run_round(
      devices, {.group = group, .to_server = [&](std::uint32_t client, ServerPhase phase, Bytes message) {
                  if ((client == 0 || client == 5) && phase == ServerPhase::unmasking) {
                    auto revealed = *decode_revealed_shares(message, 12);
                    for (auto& share : revealed.shares) share.share[3] ^= 1;
                    message = encode(revealed);
                  }
                  return std::vector<Bytes>{message};
                }});
  ASSERT_EQ(outcome.phase, ServerPhase::done) << outcome.failure;
  EXPECT_EQ(outcome.sum, devices.plain_sum(outcome.summed));
  EXPECT_EQ(outcome.summed.count(), 12U);
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
}  // namespace sotto::testing_round
