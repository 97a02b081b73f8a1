#include "secagg/protocol_harness.h"

#include <gtest/gtest.h>

namespace sotto::secagg::testing_round {

Devices::Devices(std::uint32_t clients, VectorShape shape_, std::uint64_t seed)
    : shape(shape_), random(seed, Purpose::test) {
  auto keys = std::make_shared<std::vector<IdentityKey>>();
  const std::uint64_t largest = shape.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << shape.bits) - 1;
  for (std::uint32_t i = 0; i < clients; ++i) {
    identities.push_back(Identity::create(privacy::DeviceRandom::simulated(random)));
    keys->push_back(identities.back().public_key());
    auto& input = inputs.emplace_back(shape.entries);
    for (auto& entry : input) entry = random() & largest;
  }
  registry = std::move(keys);
}

std::vector<std::uint64_t> Devices::plain_sum(const MemberSet& of) const {
  const std::uint64_t largest = shape.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << shape.bits) - 1;
  std::vector<std::uint64_t> sum(shape.entries);
  for (std::uint32_t client = 0; client < size(); ++client) {
    if (!of.contains(client)) continue;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = (sum[i] + inputs[client][i]) & largest;
  }
  return sum;
}

DealtShares Devices::signed_again(std::uint32_t client, DealtShares dealt) const {
  for (AddressedShares& shares : dealt.shares) {
    if (!dealt.is_signed) break;
    shares.signature = identities[client].sign(
        dealing_statement({dealt.transcript, client, shares.client}, shares.sealed, shares.commitments));
  }
  return dealt;
}

ClientPolicy policy_for(const GroupParameters& group, VectorShape shape) {
  return {.server = group.server,
          .corrupted = static_cast<double>(group.corrupted) / group.clients,
          .dropped = static_cast<double>(group.dropped) / group.clients,
          .minimum_alive = group.minimum_alive,
          .order_hash = any_order_hash,
          .vector = shape,
          .security_bits = group.security_bits};
}

Result<Bytes> answer(SecAggClient& client, ServerPhase phase, ByteView message,
                     const std::vector<std::uint64_t>& input, unsigned bits) {
  switch (phase) {
    case ServerPhase::advertising:
      return client.advertise();
    case ServerPhase::sharing:
      return client.share_keys(message);
    case ServerPhase::uploading: {
      SOTTO_TRY(auto vector, RingVector::of(std::span(input), bits));
      return client.upload(message, std::move(vector));
    }
    case ServerPhase::confirming:
      return client.confirm_arrivals(message);
    case ServerPhase::unmasking:
      return client.reveal(message);
    case ServerPhase::done:
    case ServerPhase::failed:
      break;
  }
  return bad_input("the round is over");
}

namespace {

std::vector<Bytes> deliver(const Tamper& tamper, std::uint32_t client, ServerPhase phase, Bytes message) {
  if (tamper) return tamper(client, phase, std::move(message));
  std::vector<Bytes> one;
  one.push_back(std::move(message));
  return one;
}

// Joins on the first message, then answers; what goes wrong is noted as the client's reason to leave.
void exchange(Devices& devices, const RoundSettings& settings, SecAggServer& server,
              std::optional<SecAggClient>& client, std::uint32_t index, Outcome& outcome) {
  const ServerPhase phase = server.phase();
  const auto message = server.message_for(index);
  ASSERT_TRUE(message) << message.error().message;
  for (const Bytes& arrived : deliver(settings.to_client, index, phase, *message)) {
    outcome.received[{index, phase}] = arrived;
    if (!client && phase == ServerPhase::advertising) {
      auto joined = SecAggClient::join(arrived, policy_for(settings.group, devices.shape),
                                       devices.identities[index], devices.registry,
                                       privacy::DeviceRandom::simulated(devices.random), settings.memory);
      if (!joined) {
        outcome.aborted[index] = joined.error().message;
        return;
      }
      client.emplace(std::move(*joined));
    }
    if (!client) return;
    auto sent = answer(*client, phase, arrived, devices.inputs[index], devices.shape.bits);
    if (!sent) {
      outcome.aborted[index] = sent.error().message;
      continue;
    }
    outcome.sent[{index, phase}] = *sent;
    for (const Bytes& reached : deliver(settings.to_server, index, phase, std::move(*sent))) {
      if (const auto taken = server.receive(index, reached); !taken) {
        outcome.removed.emplace(index, taken.error().message);
      }
    }
  }
}

}  // namespace

Outcome run_round(Devices& devices, const RoundSettings& settings) {
  Outcome outcome;
  auto server =
      SecAggServer::create(settings.group, devices.shape, any_order_hash, devices.registry, devices.random);
  if (!server) {
    outcome.failure = server.error().message;
    return outcome;
  }
  std::vector<std::optional<SecAggClient>> clients(devices.size());
  while (server->phase() != ServerPhase::done && server->phase() != ServerPhase::failed) {
    for (std::uint32_t index = 0; index < devices.size(); ++index) {
      const bool there = server->phase() == ServerPhase::advertising || clients[index].has_value();
      if (server->takes_part(index) && there && !outcome.aborted.contains(index)) {
        exchange(devices, settings, *server, clients[index], index, outcome);
      }
    }
    if (!server->close_phase()) break;
  }
  outcome.phase = server->phase();
  outcome.failure = server->failure();
  outcome.summed = server->summed();
  outcome.guilty = server->guilty();
  if (outcome.phase == ServerPhase::done) outcome.sum = server->sum().entries();
  for (std::uint32_t index = 0; index < devices.size(); ++index) {
    if (clients[index]) outcome.stages[index] = clients[index]->stage();
  }
  return outcome;
}

}  // namespace sotto::secagg::testing_round
