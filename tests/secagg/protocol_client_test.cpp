// What a client does not accept, however it is asked.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "secagg/protocol_harness.h"

namespace sotto::secagg::testing_round {
namespace {

using ::testing::HasSubstr;

GroupParameters group_of(std::uint32_t clients, ServerModel server) {
  const auto group =
      find_parameters({.clients = clients, .corrupted = 0.1, .dropping = 0.2, .server = server});
  EXPECT_TRUE(group) << group.error().message;
  return group.value_or(GroupParameters{});
}

// Changes one kind of message to one client.
template <class Change>
Tamper changing(std::uint32_t whose, ServerPhase when, Change change) {
  return [=](std::uint32_t client, ServerPhase phase, Bytes message) {
    return std::vector<Bytes>{client == whose && phase == when ? change(message) : message};
  };
}

std::string abort_reason(ServerModel server, const Tamper& to_client, std::uint32_t client = 3) {
  Devices devices(10, {20, 16}, 5);
  const auto outcome = run_round(devices, {.group = group_of(10, server), .to_client = to_client});
  const auto found = outcome.aborted.find(client);
  return found == outcome.aborted.end() ? "did not abort" : found->second;
}

TEST(Client, RefusesRoundsWeakerThanItsPolicy) {
  Devices devices(10, {20, 16}, 5);
  const auto group = group_of(10, ServerModel::semi_honest);
  const auto server =
      SecAggServer::create(group, devices.shape, any_order_hash, devices.registry, devices.random);
  ASSERT_TRUE(server);
  const auto invitation = *server->message_for(0);
  const auto join = [&](auto change) {
    auto policy = policy_for(group, devices.shape);
    change(policy);
    const auto joined = SecAggClient::join(invitation, policy, devices.identities[0], devices.registry,
                                           privacy::DeviceRandom::simulated(devices.random));
    return joined ? std::string("joined") : joined.error().message;
  };
  EXPECT_EQ(join([](ClientPolicy&) {}), "joined");
  EXPECT_THAT(join([](ClientPolicy& policy) { policy.server = ServerModel::active; }), HasSubstr("active"));
  EXPECT_THAT(join([](ClientPolicy& policy) { policy.corrupted = 0.3; }), HasSubstr("corrupted"));
  EXPECT_THAT(join([](ClientPolicy& policy) { policy.security_bits = 80; }), HasSubstr("security"));
  EXPECT_THAT(join([](ClientPolicy& policy) { policy.minimum_alive = 9; }), HasSubstr("as few as"));
  EXPECT_THAT(join([](ClientPolicy& policy) { policy.dropped = 0.1; }), HasSubstr("lost"));
  EXPECT_THAT(join([](ClientPolicy& policy) { policy.vector.entries = 21; }), HasSubstr("entries"));
  EXPECT_THAT(join([](ClientPolicy& policy) { policy.order_hash.value[31] ^= 1; }), HasSubstr("order"));
  static_assert(!std::is_default_constructible_v<ClientPolicy>, "the adversary has no default");
}

// The server holds the round for one order and shows client 3 the other one, which is what it agreed to.
// Nothing that it says then belongs to the others' round.
TEST(Client, CannotSumForAnotherOrderThanTheOthers) {
  Devices devices(10, {20, 16}, 5);
  const auto group = group_of(10, ServerModel::active);
  auto server = SecAggServer::create(group, devices.shape, Digest{7}, devices.registry, devices.random);
  ASSERT_TRUE(server);
  auto shown = *decode_invitation(*server->message_for(3));
  shown.round.order_hash = any_order_hash;
  auto client = SecAggClient::join(encode(shown), policy_for(group, devices.shape), devices.identities[3],
                                   devices.registry, privacy::DeviceRandom::simulated(devices.random));
  ASSERT_TRUE(client) << client.error().message;
  const auto taken = server->receive(3, *client->advertise());
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("another round"));
}

TEST(Client, RefusesGroupsItDoesNotKnow) {
  Devices devices(10, {20, 16}, 5), strangers(10, {20, 16}, 6);
  const auto group = group_of(10, ServerModel::semi_honest);
  const auto server =
      SecAggServer::create(group, devices.shape, any_order_hash, strangers.registry, devices.random);
  const auto invitation = *server->message_for(0);
  const auto policy = policy_for(group, devices.shape);
  const auto random = privacy::DeviceRandom::simulated(devices.random);
  EXPECT_FALSE(SecAggClient::join(invitation, policy, devices.identities[0], devices.registry, random));
  EXPECT_FALSE(SecAggClient::join(invitation, policy, devices.identities[0], strangers.registry, random));
}

TEST(Client, RefusesUnsafeParametersOfAnInvitation) {
  for (const ServerModel model : {ServerModel::semi_honest, ServerModel::active}) {
    const auto weakened = [&](auto change) {
      return abort_reason(model, changing(3, ServerPhase::advertising, [&](const Bytes& message) {
                            auto invitation = *decode_invitation(message);
                            change(invitation.round);
                            return encode(invitation);
                          }));
    };
    EXPECT_NE(weakened([](Round& round) { round.group.threshold = 1; }), "did not abort");
    EXPECT_NE(weakened([](Round& round) { round.group.minimum_alive = 2; }), "did not abort");
    EXPECT_NE(weakened([](Round& round) { round.group.quorum = 1; }), "did not abort");
    EXPECT_NE(weakened([](Round& round) { round.group.corrupted = 0; }), "did not abort");
    EXPECT_NE(weakened([](Round& round) { round.vector.bits = 7; }), "did not abort");
    EXPECT_NE(weakened([](Round& round) { round.order_hash[0] ^= 1; }), "did not abort");
  }
}

TEST(Client, RefusesRostersThatAreNotItsNeighbours) {
  const auto changed = [](auto change) {
    return abort_reason(ServerModel::active, changing(3, ServerPhase::sharing, [=](const Bytes& message) {
                          auto roster = *decode_roster(message, 10);
                          change(roster);
                          return encode(roster);
                        }));
  };
  EXPECT_THAT(changed([](Roster& roster) { roster.neighbours.pop_back(); }), HasSubstr("exactly"));
  EXPECT_THAT(changed([](Roster& roster) { roster.neighbours[0].mask_key[0] ^= 1; }), HasSubstr("signed"));
  EXPECT_THAT(changed([](Roster& roster) { roster.neighbours[0].signature[9] ^= 1; }), HasSubstr("signed"));
  EXPECT_THAT(changed([](Roster& roster) { roster.context[0] ^= 1; }), HasSubstr("another round"));
  EXPECT_THAT(changed([](Roster& roster) { roster.transcript[0] ^= 1; }), HasSubstr("transcript"));
  EXPECT_THAT(changed([](Roster& roster) { roster.advertised.erase(3); }), HasSubstr("this client"));
  EXPECT_THAT(changed([](Roster& roster) {
                std::swap(roster.neighbours[0].channel_key, roster.neighbours[1].channel_key);
              }),
              HasSubstr("signed"));
  EXPECT_THAT(changed([](Roster& roster) { roster.neighbours[0] = roster.neighbours[1]; }),
              HasSubstr("twice"));
  EXPECT_THAT(changed([](Roster& roster) { roster.neighbours[0].mask_key = roster.neighbours[1].mask_key; }),
              HasSubstr("twice"));
  // Two hidden are tolerated as lost, a third is one too many.
  EXPECT_THAT(changed([](Roster& roster) {
                for (const std::uint32_t hidden : {0U, 1U, 2U}) roster.advertised.erase(hidden);
                roster.neighbours.erase(roster.neighbours.begin(), roster.neighbours.begin() + 3);
              }),
              HasSubstr("are needed"));
}

// A server that hides client 0 from client 3 alone, with a transcript to match: what client 3 derives and
// says belongs to another round than everybody else's.
TEST(Client, WithAnotherViewOfTheKeysHasAnotherTranscript) {
  Devices devices(10, {20, 16}, 5);
  Digest context{};
  std::vector<ClientKeys> shown;  // all but client 0
  const auto outcome =
      run_round(devices, {.group = group_of(10, ServerModel::active),
                          .to_server =
                              [&](std::uint32_t client, ServerPhase phase, const Bytes& message) {
                                if (phase == ServerPhase::advertising && client != 0) {
                                  const auto advertisement = *decode_advertisement(message);
                                  context = advertisement.context;
                                  shown.push_back(advertisement.keys);
                                }
                                return std::vector<Bytes>{message};
                              },
                          .to_client = changing(3, ServerPhase::sharing, [&](const Bytes& message) {
                            auto roster = *decode_roster(message, 10);
                            roster.advertised.erase(0);
                            roster.neighbours.erase(roster.neighbours.begin());
                            roster.transcript = transcript_of(context, shown);
                            return encode(roster);
                          })});
  EXPECT_FALSE(outcome.aborted.contains(3));
  EXPECT_THAT(outcome.removed.at(3), HasSubstr("another round"));
  EXPECT_EQ(outcome.phase, ServerPhase::done) << outcome.failure;
  EXPECT_EQ(outcome.sum, devices.plain_sum(outcome.summed));
}

TEST(Client, RefusesSharesThatAreNotFromItsNeighbours) {
  const auto changed = [](auto change) {
    return abort_reason(ServerModel::semi_honest,
                        changing(3, ServerPhase::uploading, [=](const Bytes& message) {
                          auto delivered = *decode_delivered_shares(message, 10);
                          change(delivered);
                          return encode(delivered);
                        }));
  };
  EXPECT_THAT(changed([](DeliveredShares& shares) { shares.transcript[0] ^= 1; }),
              HasSubstr("another round"));
  EXPECT_THAT(changed([](DeliveredShares& shares) { shares.shares.pop_back(); }), HasSubstr("exactly"));
  EXPECT_THAT(changed([](DeliveredShares& shares) { shares.sharing.erase(3); }), HasSubstr("our own"));
  EXPECT_THAT(changed([](DeliveredShares& shares) {
                for (std::uint32_t i = 4; i < 10; ++i) shares.sharing.erase(i);
              }),
              HasSubstr("are needed"));
}

TEST(Client, RefusesArrivalsThatCannotBe) {
  for (const ServerModel model : {ServerModel::semi_honest, ServerModel::active}) {
    // Client 9 never shares, so it cannot have arrived.
    Devices devices(10, {20, 16}, 5);
    const auto reason = [&](auto change) {
      Outcome outcome =
          run_round(devices, {.group = group_of(10, model),
                              .to_server =
                                  [](std::uint32_t client, ServerPhase phase, Bytes message) {
                                    std::vector<Bytes> arrived;
                                    if (client != 9 || phase == ServerPhase::advertising)
                                      arrived.push_back(std::move(message));
                                    return arrived;
                                  },
                              .to_client = changing(3, ServerPhase::unmasking, [&](const Bytes& message) {
                                auto request = *decode_unmask_request(message, 10);
                                change(request);
                                return encode(request);
                              })});
      return outcome.aborted.contains(3) ? outcome.aborted[3] : "did not abort";
    };
    EXPECT_EQ(reason([](UnmaskRequest&) {}), "did not abort");
    EXPECT_THAT(reason([](UnmaskRequest& request) { request.alive.insert(9); }), HasSubstr("did not share"));
    EXPECT_THAT(reason([](UnmaskRequest& request) { request.alive.erase(3); }), HasSubstr("our own"));
    EXPECT_THAT(reason([](UnmaskRequest& request) {
                  for (std::uint32_t i = 4; i < 9; ++i) request.alive.erase(i);
                }),
                HasSubstr("nothing is revealed"));
    EXPECT_THAT(reason([](UnmaskRequest& request) { request.transcript[0] ^= 1; }),
                HasSubstr("another round"));
  }
}

TEST(Client, RevealsOnlyWhatAQuorumConfirmed) {
  const auto changed = [](auto change) {
    return abort_reason(ServerModel::active, changing(3, ServerPhase::unmasking, [=](const Bytes& message) {
                          auto request = *decode_unmask_request(message, 10);
                          change(request);
                          return encode(request);
                        }));
  };
  EXPECT_THAT(changed([](UnmaskRequest& request) { request.alive.erase(5); }), HasSubstr("cheating"));
  EXPECT_THAT(changed([](UnmaskRequest& request) { request.signatures.resize(5); }), HasSubstr("are needed"));
  EXPECT_THAT(changed([](UnmaskRequest& request) { request.signatures[1].signature[0] ^= 1; }),
              HasSubstr("did not sign"));
  EXPECT_THAT(changed([](UnmaskRequest& request) {
                request.signatures[1].signature = request.signatures[2].signature;
              }),
              HasSubstr("did not sign"));
}

TEST(Client, ConfirmsOnlyArrivalsWithMasksForTheSameClients) {
  const auto changed = [](auto change) {
    return abort_reason(ServerModel::active, changing(3, ServerPhase::confirming, [=](const Bytes& message) {
                          auto arrivals = *decode_arrivals(message, 10);
                          change(arrivals);
                          return encode(arrivals);
                        }));
  };
  EXPECT_THAT(changed([](Arrivals& arrivals) { arrivals.signatures.pop_back(); }), HasSubstr("signature"));
  EXPECT_THAT(changed([](Arrivals& arrivals) { arrivals.alive.erase(5); }), HasSubstr("signature"));
  EXPECT_THAT(changed([](Arrivals& arrivals) { arrivals.signatures[0].signature[3] ^= 1; }),
              HasSubstr("did not sign"));
}

// Client 3 alone is shown a smaller set of sharing clients and makes fewer masks. Its signature tells: an
// honest server counts it as lost, and with a dishonest one the others do not confirm (the test above).
TEST(Client, SignsTheSetItMadeMasksFor) {
  Devices devices(10, {20, 16}, 5);
  const auto outcome =
      run_round(devices, {.group = group_of(10, ServerModel::active),
                          .to_client = changing(3, ServerPhase::uploading, [](const Bytes& message) {
                            auto delivered = *decode_delivered_shares(message, 10);
                            delivered.sharing.erase(0);
                            delivered.shares.erase(delivered.shares.begin());
                            return encode(delivered);
                          })});
  EXPECT_THAT(outcome.removed.at(3), HasSubstr("sharing"));
  EXPECT_EQ(outcome.phase, ServerPhase::done);
  EXPECT_FALSE(outcome.summed.contains(3));
  EXPECT_EQ(outcome.sum, devices.plain_sum(outcome.summed));
}

// Over a whole round with losses: a client that was given two shares by each neighbour gives one of them
// away, and only one.
TEST(Client, RevealsOneShareForEveryNeighbour) {
  Devices devices(10, {20, 16}, 5);
  const auto group = group_of(10, ServerModel::semi_honest);
  const auto outcome = run_round(
      devices, {.group = group, .to_server = [](std::uint32_t client, ServerPhase phase, Bytes message) {
                  std::vector<Bytes> arrived;
                  if (client > 1 || phase < ServerPhase::uploading) arrived.push_back(std::move(message));
                  return arrived;
                }});
  ASSERT_EQ(outcome.phase, ServerPhase::done);
  for (std::uint32_t client = 2; client < 10; ++client) {
    const auto revealed = decode_revealed_shares(outcome.sent.at({client, ServerPhase::unmasking}), 10);
    ASSERT_TRUE(revealed);
    const auto delivered = decode_delivered_shares(outcome.received.at({client, ServerPhase::uploading}), 10);
    ASSERT_TRUE(delivered);
    ASSERT_EQ(revealed->shares.size(), delivered->shares.size());
    for (std::size_t i = 0; i < revealed->shares.size(); ++i) {
      EXPECT_EQ(revealed->shares[i].client, delivered->shares[i].client);
    }
    EXPECT_EQ(outcome.stages.at(client), ClientStage::done);
  }
}

TEST(Client, NeverAnswersTwice) {
  for (const ServerModel model : {ServerModel::semi_honest, ServerModel::active}) {
    for (const ServerPhase phase :
         {ServerPhase::sharing, ServerPhase::uploading, ServerPhase::confirming, ServerPhase::unmasking}) {
      if (model == ServerModel::semi_honest && phase == ServerPhase::confirming) continue;
      Devices devices(10, {20, 16}, 5);
      const auto outcome =
          run_round(devices, {.group = group_of(10, model),
                              .to_client = [=](std::uint32_t client, ServerPhase now, const Bytes& message) {
                                return std::vector<Bytes>(client == 3 && now == phase ? 2 : 1, message);
                              }});
      EXPECT_THAT(outcome.aborted.at(3), HasSubstr("out of order"));
      EXPECT_EQ(outcome.stages.at(3), ClientStage::aborted);
      EXPECT_EQ(outcome.phase, ServerPhase::done) << outcome.failure;
      EXPECT_EQ(outcome.sum, devices.plain_sum(outcome.summed));
    }
  }
}

TEST(Client, RefusesAnInputOfAnotherShape) {
  Devices devices(10, {20, 16}, 5);
  devices.inputs[3].resize(19);
  const auto outcome = run_round(devices, {.group = group_of(10, ServerModel::semi_honest)});
  EXPECT_THAT(outcome.aborted.at(3), HasSubstr("entries"));
  EXPECT_EQ(outcome.phase, ServerPhase::done);
}

}  // namespace
}  // namespace sotto::secagg::testing_round
