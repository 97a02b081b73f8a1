#pragma once
// Who takes part in a round: a uniform sample of the users without replacement, addressed by (seed, round).

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"

namespace sotto {

class CohortSampler {
 public:
  static Result<CohortSampler> create(std::vector<UserId> users, std::int64_t cohort, std::uint64_t seed);
  std::vector<UserId> sample(std::uint32_t round) const;  // ascending
  std::size_t population() const { return users_.size(); }
  std::uint32_t cohort() const { return cohort_; }

 private:
  CohortSampler(std::vector<UserId> users, std::uint32_t cohort, std::uint64_t seed)
      : users_(std::move(users)), cohort_(cohort), seed_(seed) {}
  std::vector<UserId> users_;
  std::uint32_t cohort_;
  std::uint64_t seed_;
};

}  // namespace sotto
