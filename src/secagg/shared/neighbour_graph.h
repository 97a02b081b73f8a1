#pragma once
// Who shares and masks with whom: a Harary graph on randomly placed clients (Bell et al. 2020), or everybody
// with everybody.

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "secagg/shared/bytes.h"
#include "secagg/shared/parameters.h"

namespace sotto::secagg {

// Reproducible draws from a public seed: everybody who knows the seed gets the same graph and the same
// groups.

// ChaCha20 under the seed. Nothing secret may come from it. Not thread-safe.
class PublicRandom final : public RandomSource {
 public:
  explicit PublicRandom(const Digest& seed) : seed_(seed) {}
  void fill(std::span<std::uint64_t> out) override;

 private:
  Digest seed_;
  std::uint64_t fills_ = 0;
};

// Clients stand on a ring in an order drawn from the public seed; each is joined to the degree/2 next ones on
// either side. With degree = clients - 1 all are joined. Immutable after construction: safe to read from
// several threads.
class NeighbourGraph {
 public:
  NeighbourGraph(std::uint32_t clients, std::uint32_t degree, const Digest& seed);

  std::uint32_t clients() const { return static_cast<std::uint32_t>(place_.size()); }
  bool joined(std::uint32_t a, std::uint32_t b) const;                // false for a == b
  std::vector<std::uint32_t> neighbours(std::uint32_t client) const;  // ascending

 private:
  std::uint32_t degree_;
  std::vector<std::uint32_t> place_;      // of a client on the ring
  std::vector<std::uint32_t> client_at_;  // a place
};

// A cohort larger than one group: split at random, each group runs the protocol, the sums are added.

// Positions 0 … cohort - 1 in random groups whose sizes differ by at most one and are at most largest_group.
// Everybody who knows the seed gets the same groups.
Result<std::vector<std::vector<std::uint32_t>>> split_into_groups(std::uint32_t cohort,
                                                                  std::uint32_t largest_group,
                                                                  const Digest& seed);

// The threat model that one group of `group_clients` must be built for so that the cohort's holds in every
// group: a random group can have more corrupted and more vanishing clients than the average. The fractions
// are raised until no group exceeds them but with probability 2^-security_bits (corrupted) and
// 2^-correctness_bits (lost); `cohort.clients` counts the whole cohort.
Result<ThreatModel> group_threat(const ThreatModel& cohort, std::uint32_t group_clients);

}  // namespace sotto::secagg
