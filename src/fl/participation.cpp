#include "fl/participation.h"

namespace sotto {

Result<std::vector<UserId>> CappedCohorts::sample(std::uint32_t round, std::uint64_t may_stay_away) {
  // Counts again from the first round when a run is resumed or an earlier round is asked for.
  if (counted_ > round) taken_part_.clear(), counted_ = 0;
  std::vector<UserId> present;
  std::size_t drawn = 0;
  while (counted_ <= round) {
    present.clear();
    const auto cohort = sampler_.sample(counted_++);
    drawn = cohort.size();
    for (const UserId user : cohort)
      if (auto& times = taken_part_[user]; times < participations_) ++times, present.push_back(user);
  }
  if (present.size() + may_stay_away < drawn)
    return failed(
        "round {}: {} of {} devices stayed away because they may take part only {} times: raise "
        "participations or dropping",
        round, drawn - present.size(), drawn, participations_);
  return present;
}

}  // namespace sotto
