#pragma once
// Cohorts in which a device that has taken part as often as it may stays away when it is drawn again.

#include <limits>
#include <unordered_map>
#include <vector>

#include "fl/cohort_sampler.h"

namespace sotto {

// Participations of devices that nothing limits.
inline constexpr std::uint64_t every_round = std::numeric_limits<std::uint64_t>::max();

// Pure in the round, however rounds are asked for. Not thread-safe.
class CappedCohorts {
 public:
  struct Cohort {
    std::vector<UserId> drawn, present;  // ascending; present: those who come
  };
  CappedCohorts(CohortSampler sampler, std::uint64_t participations)
      : sampler_(std::move(sampler)), participations_(participations) {}
  Cohort sample(std::uint32_t round);
  std::uint64_t participations() const { return participations_; }

 private:
  CohortSampler sampler_;
  std::uint64_t participations_;
  std::unordered_map<UserId, std::uint64_t> taken_part_;  // in the first `counted_` rounds
  std::uint32_t counted_ = 0;
};

}  // namespace sotto
