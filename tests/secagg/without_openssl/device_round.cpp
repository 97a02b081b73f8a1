// A round of secure aggregation in a program that links the devices' side and libsodium, and no OpenSSL: what
// a browser could run. Exits with 0 when the sum is right.

#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "secagg/client/secagg_client.h"
#include "secagg/server/secagg_server.h"

namespace {

using namespace sotto;
using namespace sotto::secagg;

constexpr std::uint32_t client_count = 4;
constexpr VectorShape shape{1000, 16};
constexpr Digest any_order_hash{1};

Result<Bytes> step(SecAggClient& client, ServerPhase phase, ByteView message) {
  switch (phase) {
    case ServerPhase::advertising:
      return client.advertise();
    case ServerPhase::sharing:
      return client.share_keys(message);
    case ServerPhase::uploading: {
      SOTTO_TRY(auto vector, RingVector::of(std::span<const std::uint32_t>(std::vector<std::uint32_t>(
                                                shape.entries, client.index() + 1)),
                                            shape.bits));
      return client.upload(message, std::move(vector));
    }
    case ServerPhase::confirming:
      return client.confirm_arrivals(message);
    default:
      return client.reveal(message);
  }
}

Status run() {
  SecureRandom random;
  std::vector<Identity> identities;
  auto keys = std::make_shared<std::vector<IdentityKey>>();
  for (std::uint32_t i = 0; i < client_count; ++i) {
    identities.push_back(Identity::create(random));
    keys->push_back(identities.back().public_key());
  }
  SOTTO_TRY(const auto group,
            find_parameters(
                {.clients = client_count, .corrupted = 0.25, .dropping = 0, .server = ServerModel::active}));
  SOTTO_TRY(auto server, SecAggServer::create(group, shape, any_order_hash, keys, random));
  const ClientPolicy policy{.server = ServerModel::active,
                            .corrupted = 0.25,
                            .dropped = 0,
                            .minimum_alive = client_count,
                            .order_hash = any_order_hash,
                            .vector = shape};
  std::vector<SecAggClient> clients;
  for (std::uint32_t i = 0; i < client_count; ++i) {
    SOTTO_TRY(const Bytes invitation, server.message_for(i));
    SOTTO_TRY(auto client, SecAggClient::join(invitation, policy, identities[i], keys, random));
    clients.push_back(std::move(client));
  }
  while (server.phase() != ServerPhase::done) {
    for (std::uint32_t i = 0; i < client_count; ++i) {
      SOTTO_TRY(const Bytes message, server.message_for(i));
      SOTTO_TRY(const Bytes answer, step(clients[i], server.phase(), message));
      SOTTO_CHECK(server.receive(i, answer));
    }
    SOTTO_CHECK(server.close_phase());
  }
  if (server.sum().entries() != std::vector<std::uint64_t>(shape.entries, 1 + 2 + 3 + 4)) {
    return failed("the sum is wrong");
  }
  return {};
}

}  // namespace

int main() {
  const Status done = run();
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
