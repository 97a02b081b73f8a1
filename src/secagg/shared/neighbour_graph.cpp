#include "secagg/shared/neighbour_graph.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>

#include "base/distributions.h"
#include "secagg/shared/field_hash.h"
#include "secagg/shared/parameters.h"

namespace sotto::secagg {

static_assert(std::endian::native == std::endian::little, "the stream is read as words in memory order");
static_assert(crypto_stream_chacha20_KEYBYTES == sizeof(Digest));

void PublicRandom::fill(std::span<std::uint64_t> out) {
  std::array<unsigned char, crypto_stream_chacha20_NONCEBYTES> nonce;
  std::memcpy(nonce.data(), &fills_, sizeof fills_);
  ++fills_;
  crypto_stream_chacha20(reinterpret_cast<unsigned char*>(out.data()), out.size_bytes(), nonce.data(),
                         seed_.data());
}

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

namespace {

// The smallest number that marked clients in any of the groups exceed with probability at most 2^-bits.
std::uint32_t largest_count(std::uint32_t cohort, std::uint32_t marked, std::uint32_t group, double bits) {
  const auto exact = Hypergeometric{cohort, marked, group}.log_probabilities();
  const double allowed = -bits * std::numbers::ln2 - std::log(std::ceil(static_cast<double>(cohort) / group));
  double tail = -std::numeric_limits<double>::infinity();
  std::uint32_t count = group;
  while (count > 0 && log_add(tail, exact[count]) <= allowed) tail = log_add(tail, exact[count--]);
  return count;
}

}  // namespace

Result<std::vector<std::vector<std::uint32_t>>> split_into_groups(std::uint32_t cohort,
                                                                  std::uint32_t largest_group,
                                                                  const Digest& seed) {
  if (largest_group < 3 || largest_group > max_group_clients) {
    return bad_input("groups of at most {} clients: 3 to {} are possible", largest_group, max_group_clients);
  }
  if (cohort < 3) return bad_input("a cohort of {} clients is too small to hide anybody", cohort);
  std::vector<std::uint32_t> order(cohort);
  std::iota(order.begin(), order.end(), 0U);
  PublicRandom random(FieldHash("sotto secagg groups 1").bytes(seed).finish());
  shuffle(std::span(order), random);

  const std::uint32_t groups = cohort / largest_group + (cohort % largest_group != 0 ? 1 : 0);
  if (cohort / groups < 3) {
    return bad_input("{} clients in groups of at most {} leave groups of {}: at least 3 are needed", cohort,
                     largest_group, cohort / groups);
  }
  std::vector<std::vector<std::uint32_t>> result(groups);
  for (std::uint32_t i = 0; i < cohort; ++i) result[i % groups].push_back(order[i]);
  return result;
}

Result<ThreatModel> group_threat(const ThreatModel& cohort, std::uint32_t group_clients) {
  if (group_clients < 3 || group_clients > cohort.clients) {
    return bad_input("a group of {} clients from a cohort of {}", group_clients, cohort.clients.value);
  }
  if (!(cohort.corrupted >= 0 && cohort.corrupted < 1 && cohort.dropping >= 0 && cohort.dropping < 1)) {
    return bad_input("fractions corrupted {} and dropping {}: both must lie in [0, 1)",
                     cohort.corrupted.value, cohort.dropping.value);
  }
  const auto in_group = [&](double fraction, double bits) {
    const auto marked = static_cast<std::uint32_t>(std::ceil(fraction * cohort.clients - 1e-9));
    return static_cast<double>(largest_count(cohort.clients, marked, group_clients, bits)) / group_clients;
  };
  ThreatModel group = cohort;
  group.clients = group_clients;
  group.corrupted = in_group(cohort.corrupted, cohort.security_bits);
  group.dropping = in_group(cohort.dropping, cohort.correctness_bits);
  return group;
}

}  // namespace sotto::secagg
