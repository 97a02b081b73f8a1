#include "fl/cohort_sampler.h"

#include <algorithm>

#include "base/distributions.h"

namespace sotto::fl {

Result<CohortSampler> CohortSampler::create(std::vector<data::UserId> users, std::int64_t cohort,
                                            std::uint64_t seed) {
  return create(std::move(users), cohort, privacy::NoiseOrigin::reproducible(seed));
}

Result<CohortSampler> CohortSampler::create(std::vector<data::UserId> users, std::int64_t cohort,
                                            const privacy::NoiseOrigin& draws) {
  if (users.empty())
    return bad_input(
        "no user has a training sample: the data needs training impressions with clicks and non-clicks");
  if (cohort < 1) return bad_input("a round needs at least one user, not {}", cohort);
  if (static_cast<std::size_t>(cohort) > users.size())
    return bad_input(
        "a cohort of {} users cannot be drawn from {} training users: give --set cohort={} or fewer "
        "(efficient-fedrec: group)",
        cohort, users.size(), users.size());
  std::sort(users.begin(), users.end());
  return CohortSampler(std::move(users), static_cast<std::uint32_t>(cohort), draws);
}

std::vector<data::UserId> CohortSampler::sample(std::uint32_t round) const {
  privacy::NoiseStream draws(draws_, Purpose::cohort_sampling, round);
  auto cohort =
      sample_without_replacement(static_cast<std::uint32_t>(users_.size()), cohort_, draws.random().source());
  for (auto& user : cohort) user = users_[user];
  std::sort(cohort.begin(), cohort.end());
  return cohort;
}

CappedCohorts::Cohort CappedCohorts::sample(std::uint32_t round) {
  Cohort cohort{sampler_.sample(round), {}};
  if (participations_ == every_round) {
    cohort.present = cohort.drawn;
    return cohort;
  }
  const auto& users = sampler_.users();
  auto* times = taken_part_.data_ptr<double>();
  for (const data::UserId user : cohort.drawn) {
    double& own = times[std::lower_bound(users.begin(), users.end(), user) - users.begin()];
    if (own < static_cast<double>(participations_)) ++own, cohort.present.push_back(user);
  }
  return cohort;
}

std::vector<torch::Tensor*> CappedCohorts::state() {
  if (participations_ == every_round) return {};
  return {&taken_part_};
}

}  // namespace sotto::fl
