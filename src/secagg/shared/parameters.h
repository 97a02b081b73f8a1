#pragma once
// From a threat model to the numbers of a group: how many neighbours each client has, how many shares open a
// secret, how many clients must be left. The proofs are in docs/secagg/protocol.md.

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sotto::secagg {

// Drawing without replacement: how many of k drawn clients are marked, when m of n are. In logarithms, since
// the probabilities that matter are below 2^-40.
struct Hypergeometric {
  std::uint32_t population = 0;
  std::uint32_t marked = 0;  // <= population
  std::uint32_t draws = 0;   // <= population

  // ln P[exactly j marked] for j = 0 … draws; -infinity for what cannot happen.
  std::vector<double> log_probabilities() const;
};

// ln(e^a + e^b).
double log_add(double a, double b);

enum class ServerModel : std::uint8_t {
  semi_honest = 1,  // follows the protocol, keeps everything it sees, colludes with the corrupted clients
  active = 2,       // may also send anything to anybody
};

// A member that has no default: a struct with one does not compile where the member is left out.
template <class T>
struct Stated {
  Stated(T stated) : value(std::move(stated)) {}  // NOLINT(google-explicit-constructor): reads as a T
  operator const T&() const { return value; }     // NOLINT(google-explicit-constructor)
  T value;
};

// What a group must withstand. Who the adversary is only the operator can know, so all of it is stated.
struct ThreatModel {
  Stated<std::uint32_t> clients;
  Stated<double> corrupted;  // fraction of the clients that the server controls
  Stated<double> dropping;   // fraction of the clients that may be lost on the way, at any point
  Stated<ServerModel> server;
  double security_bits = 40;     // an unlucky graph exposes somebody with probability below 2^-this
  double correctness_bits = 20;  // a round within the tolerated losses fails with probability below 2^-this
};

inline constexpr std::uint32_t max_group_clients = 65535;

// What every client of a round is told, and checks by itself before it takes part.
struct GroupParameters {
  std::uint32_t clients = 0;
  std::uint32_t corrupted = 0;      // at most so many are controlled by the server
  std::uint32_t dropped = 0;        // at most so many may be lost
  std::uint32_t degree = 0;         // neighbours of a client: clients - 1, or an even number on the ring
  std::uint32_t threshold = 0;      // shares that open a secret
  std::uint32_t minimum_alive = 0;  // with fewer vectors than this nobody reveals anything
  std::uint32_t quorum = 0;         // active server: signatures over one set of arrivals; otherwise 0
  ServerModel server = ServerModel::semi_honest;
  double security_bits = 0;
  double correctness_bits = 0;

  bool complete_graph() const { return degree + 1 == clients; }
  bool operator==(const GroupParameters&) const = default;
};

// Upper bounds, as base-2 logarithms; -infinity where the event cannot happen at all.
struct FailureBounds {
  double too_many_corrupted = 0;  // some client has `threshold` corrupted neighbours
  double disconnected = 0;        // honest survivors fall apart: sums of parts would be visible
  double too_few_shares = 0;      // some client has fewer than `threshold` surviving neighbours
};
FailureBounds failure_bounds(const GroupParameters& group);

// The sparsest safe group (within about 3 % of the degree). Refuses threat models that no parameters meet.
Result<GroupParameters> find_parameters(const ThreatModel& threat);

// Does this group keep its own promise? For whoever is told the numbers by somebody else.
Status check_parameters(const GroupParameters& group);

}  // namespace sotto::secagg
