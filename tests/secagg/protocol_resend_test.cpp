// Networks repeat themselves: the same bytes again change nothing and get the same answer, other bytes are
// refused, and nobody is expelled for either.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/distributions.h"
#include "secagg/protocol_harness.h"

namespace sotto::secagg::testing_round {
namespace {

constexpr std::uint32_t client_count = 20;
constexpr ServerModel models[] = {ServerModel::semi_honest, ServerModel::active};

// A round driven message by message.
class Play {
 public:
  explicit Play(ServerModel model)
      : devices(client_count, {30, 16}, 8),
        group(
            *find_parameters({.clients = client_count, .corrupted = 0.1, .dropping = 0.1, .server = model})),
        server(
            *SecAggServer::create(group, devices.shape, any_order_hash, devices.registry, devices.random)) {
    for (std::uint32_t i = 0; i < client_count; ++i) {
      clients.push_back(*SecAggClient::join(*server.message_for(i), policy_for(group, devices.shape),
                                            devices.identities[i], devices.registry,
                                            privacy::DeviceRandom::simulated(devices.random)));
    }
  }

  // What the client says in this phase.
  Bytes say(std::uint32_t client) {
    auto said = answer(clients[client], server.phase(), *server.message_for(client), devices.inputs[client],
                       devices.shape.bits);
    EXPECT_TRUE(said) << said.error().message;
    return said.value_or(Bytes{});
  }
  bool over() const { return server.phase() >= ServerPhase::done; }

  Devices devices;
  GroupParameters group;
  SecAggServer server;
  std::vector<SecAggClient> clients;
};

struct Sent {
  std::uint32_t client;
  ServerPhase phase;
  Bytes message;
  std::optional<Bytes> answer;  // the first one given
};

TEST(Resends, DuplicatedAndReorderedMessagesGiveTheExactSum) {
  for (const ServerModel model : models) {
    Play play(model);
    while (!play.over()) {
      std::vector<std::pair<std::uint32_t, Bytes>> arriving;
      for (std::uint32_t client = 0; client < client_count; ++client) {
        arriving.emplace_back(client, play.say(client));
        arriving.push_back(arriving.back());
      }
      shuffle(std::span(arriving), play.devices.random);
      for (const auto& [client, message] : arriving) {
        const auto taken = play.server.receive(client, message);
        ASSERT_TRUE(taken) << taken.error().message;
        EXPECT_EQ(*taken, play.server.phase());
        EXPECT_EQ(*play.server.answer_to(client, *taken), std::nullopt);  // the phase is still open
      }
      EXPECT_TRUE(play.server.all_answered());
      ASSERT_TRUE(play.server.close_phase()) << play.server.failure();
    }
    EXPECT_EQ(play.server.summed().count(), client_count);
    EXPECT_EQ(play.server.sum().entries(), play.devices.plain_sum(play.server.summed()));
  }
}

TEST(Resends, HaveTheSameAnswerToTheEndOfTheRound) {
  for (const ServerModel model : models) {
    Play play(model);
    std::vector<Sent> sent;
    while (!play.over()) {
      for (std::uint32_t client = 0; client < client_count; ++client) {
        sent.push_back({client, play.server.phase(), play.say(client), std::nullopt});
        ASSERT_TRUE(play.server.receive(client, sent.back().message));
      }
      ASSERT_TRUE(play.server.close_phase()) << play.server.failure();
      for (Sent& one : sent) {
        const auto taken = play.server.receive(one.client, one.message);
        ASSERT_TRUE(taken) << taken.error().message;
        EXPECT_EQ(*taken, one.phase);
        const auto answer = play.server.answer_to(one.client, *taken);
        ASSERT_TRUE(answer && answer->has_value());
        if (!one.answer) {
          one.answer = **answer;
          EXPECT_EQ(**answer, play.over() ? Bytes{} : *play.server.message_for(one.client));
        }
        EXPECT_EQ(**answer, *one.answer);
      }
    }
    EXPECT_EQ(play.server.sum().entries(), play.devices.plain_sum(play.server.summed()));
  }
}

TEST(Resends, OfOtherBytesAreRefusedAndExpelNobody) {
  for (const ServerModel model : models) {
    Play play(model);
    std::vector<std::pair<ServerPhase, Bytes>> earlier;
    while (!play.over()) {
      for (std::uint32_t client = 0; client < client_count; ++client) {
        const Bytes message = play.say(client);
        ASSERT_TRUE(play.server.receive(client, message));
        if (client != 3) continue;
        earlier.emplace_back(play.server.phase(), message);
        // Damaged, no message at all, and somebody else's; also for the phases that are over.
        for (const auto& [phase, first] : earlier) {
          Bytes damaged = first;
          damaged.back() ^= 1;
          for (const Bytes& other : {damaged, Bytes(100, 7)}) {
            const auto refused = play.server.receive(client, other);
            ASSERT_FALSE(refused);
            EXPECT_EQ(refused.error().kind, ErrorKind::conflict) << refused.error().message;
          }
        }
        EXPECT_TRUE(play.server.takes_part(client));
        EXPECT_TRUE(play.server.has_answered(client));
      }
      ASSERT_TRUE(play.server.close_phase()) << play.server.failure();
    }
    EXPECT_EQ(play.server.summed().count(), client_count);
    EXPECT_EQ(play.server.sum().entries(), play.devices.plain_sum(play.server.summed()));
  }
}

TEST(Resends, OfAnEarlierPhaseInPlaceOfTheNextMessageExpelNobody) {
  Play play(ServerModel::semi_honest);
  std::vector<Bytes> keys;
  for (std::uint32_t client = 0; client < client_count; ++client) {
    keys.push_back(play.say(client));
    ASSERT_TRUE(play.server.receive(client, keys.back()));
  }
  ASSERT_TRUE(play.server.close_phase());
  EXPECT_EQ(*play.server.receive(5, keys[5]), ServerPhase::advertising);
  EXPECT_EQ(play.server.receive(5, keys[6]).error().kind, ErrorKind::conflict);
  EXPECT_TRUE(play.server.takes_part(5));
  EXPECT_FALSE(play.server.has_answered(5));
  EXPECT_TRUE(play.server.receive(5, play.say(5)));
}

TEST(Resends, OfWhatWasNeverTakenHaveNoAnswer) {
  Play play(ServerModel::semi_honest);
  EXPECT_FALSE(play.server.answer_to(0, ServerPhase::advertising));
  EXPECT_FALSE(play.server.answer_to(client_count, ServerPhase::advertising));
  EXPECT_FALSE(play.server.answer_to(0, ServerPhase::done));
  const Bytes keys = play.say(0);
  EXPECT_FALSE(play.server.receive(0, Bytes(100, 7)));  // not right: out
  const auto late = play.server.receive(0, keys);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::bad_input);
}

}  // namespace
}  // namespace sotto::secagg::testing_round
