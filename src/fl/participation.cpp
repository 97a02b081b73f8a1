#include "fl/participation.h"

namespace sotto {

CappedCohorts::Cohort CappedCohorts::sample(std::uint32_t round) {
  // Counts again from the first round when a run is resumed or an earlier round is asked for.
  if (counted_ > round) taken_part_.clear(), counted_ = 0;
  Cohort cohort;
  while (counted_ <= round) {
    cohort = {sampler_.sample(counted_++), {}};
    for (const UserId user : cohort.drawn)
      if (auto& times = taken_part_[user]; times < participations_) ++times, cohort.present.push_back(user);
  }
  return cohort;
}

}  // namespace sotto
