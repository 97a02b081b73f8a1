#pragma once
// Cohorts in which a device that has taken part as often as it may stays away when it is drawn again.

#include <unordered_map>
#include <vector>

#include "fl/cohort_sampler.h"

namespace sotto {

// Pure in the round, however rounds are asked for. Not thread-safe.
class CappedCohorts {
 public:
  CappedCohorts(CohortSampler sampler, std::uint64_t participations)
      : sampler_(std::move(sampler)), participations_(participations) {}
  // Those who come. Fails when more than `may_stay_away` devices do not: the noise does not allow for it.
  Result<std::vector<UserId>> sample(std::uint32_t round, std::uint64_t may_stay_away);

 private:
  CohortSampler sampler_;
  std::uint64_t participations_;
  std::unordered_map<UserId, std::uint64_t> taken_part_;  // in the first `counted_` rounds
  std::uint32_t counted_ = 0;
};

}  // namespace sotto
