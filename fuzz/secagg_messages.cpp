// Any bytes as any message, into a client and into a server at any point of a round: refused, or taken for
// what they are, but no crash. The first byte says who gets the message and when, the rest is the message;
// with the top bit set it is a real message of the round with some of its bytes replaced, with the next bit
// it goes through every reader and no further, which is fast.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "secagg/client/secagg_client.h"
#include "secagg/server/secagg_server.h"

namespace {

using namespace sotto;

constexpr std::uint32_t client_count = 3;
constexpr secagg::VectorShape shape{5, 12};
constexpr secagg::Digest any_order_hash{1};

// A small round, played up to the phase wanted, always the same way.
struct Play {
  SeededRandom random{1, Purpose::test};
  std::vector<secagg::Identity> identities;
  secagg::GroupIdentities registry;
  secagg::GroupParameters group;
  std::optional<secagg::SecAggServer> server;
  std::vector<secagg::SecAggClient> clients;

  explicit Play(secagg::ServerModel model) {
    auto keys = std::make_shared<std::vector<secagg::IdentityKey>>();
    for (std::uint32_t i = 0; i < client_count; ++i) {
      identities.push_back(secagg::Identity::create(privacy::DeviceRandom::simulated(random)));
      keys->push_back(identities.back().public_key());
    }
    registry = std::move(keys);
    group =
        *secagg::find_parameters({.clients = client_count, .corrupted = 0, .dropping = 0, .server = model});
    server.emplace(*secagg::SecAggServer::create(group, shape, any_order_hash, registry, random));
  }

  Result<secagg::SecAggClient> join(std::uint32_t client, secagg::ByteView invitation) {
    const secagg::ClientPolicy policy{.server = group.server,
                                      .corrupted = 0,
                                      .dropped = 0,
                                      .minimum_alive = client_count,
                                      .order_hash = any_order_hash,
                                      .vector = shape};
    return secagg::SecAggClient::join(invitation, policy, identities[client], registry,
                                      privacy::DeviceRandom::simulated(random));
  }

  Result<secagg::Bytes> step(std::uint32_t client, secagg::ByteView message) {
    switch (server->phase()) {
      case secagg::ServerPhase::advertising: {
        SOTTO_TRY(auto joined, join(client, message));
        clients.push_back(std::move(joined));
        return clients.back().advertise();
      }
      case secagg::ServerPhase::sharing:
        return clients[client].share_keys(message);
      case secagg::ServerPhase::uploading: {
        SOTTO_TRY(auto zeros, secagg::RingVector::zeros(shape.entries, shape.bits));
        return clients[client].upload(message, std::move(zeros));
      }
      case secagg::ServerPhase::confirming:
        return clients[client].confirm_arrivals(message);
      default:
        return clients[client].reveal(message);
    }
  }

  void finish_phase() {
    for (std::uint32_t i = 0; i < client_count; ++i) {
      if (!server->receive(i, *step(i, *server->message_for(i)))) std::abort();
    }
    if (!server->close_phase()) std::abort();
  }
};

// Pairs of position and value, over a real message.
secagg::Bytes altered(secagg::Bytes message, secagg::ByteView changes) {
  for (std::size_t i = 0; i + 2 < changes.size(); i += 3) {
    const std::size_t position = (changes[i] | std::size_t{changes[i + 1]} << 8) % message.size();
    message[position] = changes[i + 2];
  }
  return message;
}

void read_as_everything(secagg::ByteView bytes) {
  (void)secagg::decode_invitation(bytes);
  (void)secagg::decode_advertisement(bytes);
  (void)secagg::decode_roster(bytes, client_count);
  (void)secagg::decode_dealt_shares(bytes, client_count);
  (void)secagg::decode_delivered_shares(bytes, client_count);
  (void)secagg::decode_masked_vector(bytes, shape);
  (void)secagg::decode_arrivals(bytes, client_count);
  (void)secagg::decode_arrivals_signature(bytes);
  (void)secagg::decode_unmask_request(bytes, client_count);
  (void)secagg::decode_revealed_shares(bytes, client_count);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned choice = data[0];
  const secagg::ByteView rest(data + 1, size - 1);
  const auto model = (choice & 1) != 0 ? secagg::ServerModel::active : secagg::ServerModel::semi_honest;
  const bool to_client = (choice & 2) != 0;
  const bool real = (choice & 0x80) != 0;
  if ((choice & 0x40) != 0 && !real) {
    read_as_everything(rest);
    return 0;
  }
  const unsigned phases = (choice >> 2 & 7) % (model == secagg::ServerModel::active ? 5 : 4);

  Play play(model);
  for (unsigned i = 0; i < phases; ++i) play.finish_phase();
  const secagg::Bytes request = *play.server->message_for(0);
  if (to_client) {
    const secagg::Bytes message = real ? altered(request, rest) : secagg::Bytes(rest.begin(), rest.end());
    (void)play.step(0, message);
  } else {
    const secagg::Bytes answer = *play.step(0, request);
    const secagg::Bytes message = real ? altered(answer, rest) : secagg::Bytes(rest.begin(), rest.end());
    (void)play.server->receive(0, message);
    // Whatever came in must not trouble the rest of the phase.
    for (std::uint32_t i = 1; i < client_count; ++i) {
      const auto next = play.step(i, *play.server->message_for(i));
      if (!next || !play.server->receive(i, *next)) std::abort();
    }
    (void)play.server->close_phase();
  }
  return 0;
}
