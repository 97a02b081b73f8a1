#include "secagg/shared/neighbour_graph.h"

#include <algorithm>
#include <numeric>

#include "base/distributions.h"
#include "secagg/shared/field_hash.h"
#include "secagg/shared/public_random.h"

namespace sotto {

NeighbourGraph::NeighbourGraph(std::uint32_t clients, std::uint32_t degree, const Digest& seed)
    : degree_(degree), place_(clients), client_at_(clients) {
  std::iota(client_at_.begin(), client_at_.end(), 0U);
  PublicRandom random(FieldHash("sotto secagg graph 1").bytes(seed).finish());
  shuffle(std::span(client_at_), random);
  for (std::uint32_t place = 0; place < clients; ++place) place_[client_at_[place]] = place;
}

bool NeighbourGraph::joined(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return false;
  const std::uint32_t apart = place_[a] > place_[b] ? place_[a] - place_[b] : place_[b] - place_[a];
  return degree_ + 1 == clients() || std::min(apart, clients() - apart) <= degree_ / 2;
}

std::vector<std::uint32_t> NeighbourGraph::neighbours(std::uint32_t client) const {
  std::vector<std::uint32_t> result;
  result.reserve(degree_);
  if (degree_ + 1 == clients()) {
    for (std::uint32_t other = 0; other < clients(); ++other) {
      if (other != client) result.push_back(other);
    }
    return result;
  }
  for (std::uint32_t step = 1; step <= degree_ / 2; ++step) {
    result.push_back(client_at_[(place_[client] + step) % clients()]);
    result.push_back(client_at_[(place_[client] + clients() - step) % clients()]);
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace sotto
