#pragma once
// Who shares and masks with whom: a Harary graph on randomly placed clients (Bell et al. 2020), or everybody
// with everybody.

#include <cstdint>
#include <vector>

#include "secagg/shared/bytes.h"

namespace sotto {

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

}  // namespace sotto
