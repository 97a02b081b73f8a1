#include "fl/cohort_sampler.h"

#include <algorithm>

#include "base/distributions.h"

namespace sotto::fl {

Result<CohortSampler> CohortSampler::create(std::vector<data::UserId> users, std::int64_t cohort,
                                            std::uint64_t seed) {
  if (users.empty())
    return bad_input(
        "no user has a training sample: the data needs training impressions with clicks and non-clicks");
  if (cohort < 1) return bad_input("a round needs at least one user, not {}", cohort);
  if (static_cast<std::size_t>(cohort) > users.size())
    return bad_input("a cohort of {} users cannot be drawn from {} training users: choose a smaller cohort",
                     cohort, users.size());
  return CohortSampler(std::move(users), static_cast<std::uint32_t>(cohort), seed);
}

std::vector<data::UserId> CohortSampler::sample(std::uint32_t round) const {
  SeededRandom random(seed_, Purpose::cohort_sampling, round);
  auto cohort = sample_without_replacement(static_cast<std::uint32_t>(users_.size()), cohort_, random);
  for (auto& user : cohort) user = users_[user];
  std::sort(cohort.begin(), cohort.end());
  return cohort;
}

CappedCohorts::Cohort CappedCohorts::sample(std::uint32_t round) {
  // Counts again from the first round when a run is resumed or an earlier round is asked for.
  if (counted_ > round) taken_part_.clear(), counted_ = 0;
  Cohort cohort;
  while (counted_ <= round) {
    cohort = {sampler_.sample(counted_++), {}};
    for (const data::UserId user : cohort.drawn)
      if (auto& times = taken_part_[user]; times < participations_) ++times, cohort.present.push_back(user);
  }
  return cohort;
}

}  // namespace sotto::fl
