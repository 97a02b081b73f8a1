#include "secagg/shared/groups.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>

#include "base/distributions.h"
#include "secagg/shared/field_hash.h"
#include "secagg/shared/hypergeometric.h"
#include "secagg/shared/public_random.h"

namespace sotto {

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
  if (largest_group < 3 || largest_group > kMaxGroupClients) {
    return bad_input("groups of at most {} clients: 3 to {} are possible", largest_group, kMaxGroupClients);
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

}  // namespace sotto
