// An active server that tells different clients different things about who arrived, with corrupted clients
// that sign whatever it likes.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "secagg/protocol_harness.h"

namespace sotto::secagg::testing_round {
namespace {

constexpr std::uint32_t members = 9;
constexpr std::uint32_t corrupted_count = 2;  // clients 0 and 1

// All vectors have arrived, honestly; what follows is up to the test.
struct AfterUpload {
  Devices devices{members, {4, 16}, 13};
  GroupParameters group = *find_parameters(
      {.clients = members, .corrupted = 0.2, .dropping = 0.1, .server = ServerModel::active});
  std::vector<SecAggClient> clients;
  Arrivals arrivals;  // everybody, with all signatures
  MemberSet sharing{members};

  AfterUpload() {
    auto server =
        *SecAggServer::create(group, devices.shape, any_order_hash, devices.registry, devices.random);
    const auto policy = policy_for(group, devices.shape);
    for (std::uint32_t i = 0; i < members; ++i) {
      sharing.insert(i);
      clients.push_back(*SecAggClient::join(*server.message_for(i), policy, devices.identities[i],
                                            devices.registry,
                                            privacy::DeviceRandom::simulated(devices.random)));
    }
    while (server.phase() != ServerPhase::confirming) {
      for (std::uint32_t i = 0; i < members; ++i) {
        const auto reply =
            answer(clients[i], server.phase(), *server.message_for(i), devices.inputs[i], devices.shape.bits);
        EXPECT_TRUE(reply && server.receive(i, *reply));
      }
      EXPECT_TRUE(server.close_phase());
    }
    arrivals = *decode_arrivals(*server.message_for(0), members);
  }

  Arrivals view_without(std::uint32_t missing) const {
    Arrivals view = arrivals;
    if (missing < members) {
      view.alive.erase(missing);
      std::erase_if(view.signatures, [&](const auto& signature) { return signature.client == missing; });
    }
    return view;
  }

  Signature corrupted_signature(std::uint32_t client, const MemberSet& alive) const {
    return devices.identities[client].sign(arrivals_statement(arrivals.transcript, sharing, alive));
  }
};

// Every honest client is told that all arrived (missing = members) or all but one. The server then gives
// each of them all the confirmations it could get for what that client was told.
std::map<std::uint32_t, std::set<std::uint32_t>> revealing_clients(
    const std::map<std::uint32_t, std::uint32_t>& missing_for) {
  AfterUpload play;
  std::map<std::uint32_t, std::vector<ClientSignature>> confirmations;  // by who is said to be missing
  for (std::uint32_t client = corrupted_count; client < members; ++client) {
    const std::uint32_t missing = missing_for.at(client);
    auto& signatures = confirmations[missing];
    if (signatures.empty()) {
      const auto view = play.view_without(missing);
      for (std::uint32_t liar = 0; liar < corrupted_count; ++liar) {
        if (liar != missing) signatures.push_back({liar, play.corrupted_signature(liar, view.alive)});
      }
    }
    const auto reply = play.clients[client].confirm_arrivals(encode(play.view_without(missing)));
    if (reply) signatures.push_back({client, decode_arrivals_signature(*reply)->signature});
  }
  std::map<std::uint32_t, std::set<std::uint32_t>> revealing;
  for (std::uint32_t client = corrupted_count; client < members; ++client) {
    if (play.clients[client].stage() != ClientStage::confirmed) continue;
    const std::uint32_t missing = missing_for.at(client);
    const UnmaskRequest request{play.arrivals.transcript, play.view_without(missing).alive,
                                confirmations[missing]};
    if (play.clients[client].reveal(encode(request))) revealing[missing].insert(client);
  }
  return revealing;
}

TEST(SplitView, AllRevealWhenAllAreToldTheSame) {
  std::map<std::uint32_t, std::uint32_t> same;
  for (std::uint32_t client = corrupted_count; client < members; ++client) same[client] = 1;
  const auto revealing = revealing_clients(same);
  ASSERT_EQ(revealing.size(), 1U);
  EXPECT_EQ(revealing.at(1).size(), members - corrupted_count);
}

TEST(SplitView, NobodyRevealsWhenHonestClientsAreSplitInHalves) {
  std::map<std::uint32_t, std::uint32_t> halves;
  for (std::uint32_t client = corrupted_count; client < members; ++client) halves[client] = client % 2;
  for (const auto& [missing, clients] : revealing_clients(halves)) {
    ADD_FAILURE() << clients.size() << " clients revealed without " << missing;
  }
}

// Whatever it tells whom, at most one set of arrivals is ever acted upon: never both kinds of share.
RC_GTEST_PROP(SplitView, AtMostOneSetOfArrivalsIsRevealedFor, ()) {
  std::map<std::uint32_t, std::uint32_t> missing_for;
  const auto first = *rc::gen::inRange<std::uint32_t>(0, members + 1);
  const auto second = *rc::gen::inRange<std::uint32_t>(0, members + 1);
  for (std::uint32_t client = corrupted_count; client < members; ++client) {
    missing_for[client] = *rc::gen::weightedElement<std::uint32_t>({{4, first}, {1, second}});
  }
  const auto revealing = revealing_clients(missing_for);
  RC_CLASSIFY(revealing.empty(), "nobody reveals");
  RC_ASSERT(revealing.size() <= 1U);
}

}  // namespace
}  // namespace sotto::secagg::testing_round
