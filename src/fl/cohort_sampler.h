#pragma once
// Who takes part in a round: a uniform sample of the users without replacement, addressed by (seed, round).

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"

namespace sotto::fl {

class CohortSampler {
 public:
  static Result<CohortSampler> create(std::vector<data::UserId> users, std::int64_t cohort,
                                      std::uint64_t seed);
  std::vector<data::UserId> sample(std::uint32_t round) const;  // ascending
  std::size_t population() const { return users_.size(); }
  std::uint32_t cohort() const { return cohort_; }

 private:
  CohortSampler(std::vector<data::UserId> users, std::uint32_t cohort, std::uint64_t seed)
      : users_(std::move(users)), cohort_(cohort), seed_(seed) {}
  std::vector<data::UserId> users_;
  std::uint32_t cohort_;
  std::uint64_t seed_;
};

// Cohorts in which a device that has taken part as often as it may stays away when it is drawn again.

// Participations of devices that nothing limits.
inline constexpr std::uint64_t every_round = std::numeric_limits<std::uint64_t>::max();

// Pure in the round, however rounds are asked for. Not thread-safe.
class CappedCohorts {
 public:
  struct Cohort {
    std::vector<data::UserId> drawn, present;  // ascending; present: those who come
  };
  CappedCohorts(CohortSampler sampler, std::uint64_t participations)
      : sampler_(std::move(sampler)), participations_(participations) {}
  Cohort sample(std::uint32_t round);
  std::uint64_t participations() const { return participations_; }

 private:
  CohortSampler sampler_;
  std::uint64_t participations_;
  std::unordered_map<data::UserId, std::uint64_t> taken_part_;  // in the first `counted_` rounds
  std::uint32_t counted_ = 0;
};

}  // namespace sotto::fl
