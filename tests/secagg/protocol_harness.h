#pragma once
// A whole round in one process, with hands on every message.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "secagg/client/secagg_client.h"
#include "secagg/server/secagg_server.h"

namespace sotto::secagg::testing_round {

// In which a round waits for messages.
inline constexpr ServerPhase phases[] = {ServerPhase::advertising, ServerPhase::sharing,
                                         ServerPhase::uploading, ServerPhase::confirming,
                                         ServerPhase::unmasking};

// The devices of a group: identities that live through many rounds, and one vector each.
class Devices {
 public:
  Devices(std::uint32_t clients, VectorShape shape, std::uint64_t seed);

  std::uint32_t size() const { return static_cast<std::uint32_t>(identities.size()); }
  // Entry by entry, modulo 2^bits.
  std::vector<std::uint64_t> plain_sum(const MemberSet& of) const;
  // What a client would deal, changed by a test, under that client's signatures if it had any.
  DealtShares signed_again(std::uint32_t client, DealtShares dealt) const;

  VectorShape shape;
  SeededRandom random;
  std::vector<Identity> identities;
  GroupIdentities registry;
  std::vector<std::vector<std::uint64_t>> inputs;
};

// What becomes of a message on its way. Return the messages that arrive: none, one, or more.
using Tamper = std::function<std::vector<Bytes>(std::uint32_t client, ServerPhase phase, Bytes message)>;

struct Outcome {
  ServerPhase phase = ServerPhase::failed;
  std::string failure;
  MemberSet summed;
  MemberSet guilty;
  std::vector<std::uint64_t> sum;
  std::map<std::uint32_t, std::string> aborted;                     // client: its error
  std::map<std::uint32_t, std::string> removed;                     // client: why the server refused it
  std::map<std::pair<std::uint32_t, ServerPhase>, Bytes> sent;      // by clients
  std::map<std::pair<std::uint32_t, ServerPhase>, Bytes> received;  // by clients
  std::map<std::uint32_t, ClientStage> stages;
};

// What the tests ask for unless they say otherwise.
inline constexpr Digest any_order_hash{0x0d, 0xe5};

struct RoundSettings {
  GroupParameters group;
  Tamper to_server;  // none: everything arrives once
  Tamper to_client;
  std::pmr::memory_resource* memory = std::pmr::get_default_resource();
};

Outcome run_round(Devices& devices, const RoundSettings& settings);

// One step of a client, chosen by what the server is waiting for.
Result<Bytes> answer(SecAggClient& client, ServerPhase phase, ByteView message,
                     const std::vector<std::uint64_t>& input, unsigned bits);

ClientPolicy policy_for(const GroupParameters& group, VectorShape shape);

}  // namespace sotto::secagg::testing_round
