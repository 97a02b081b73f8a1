#pragma once
// A cohort larger than one group: split at random, each group runs the protocol, the sums are added.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "secagg/shared/bytes.h"
#include "secagg/shared/parameters.h"

namespace sotto {

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

}  // namespace sotto
