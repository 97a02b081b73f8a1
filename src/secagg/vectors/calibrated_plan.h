#pragma once
// From a budget to the plan of every round: the least noise with which it holds against the adversary named,
// on the finest grid that the bits of an upload allow.

#include <cstdint>

#include "privacy/accounting/datasheet.h"
#include "privacy/accounting/plan.h"
#include "secagg/vectors/update_encoding.h"

namespace sotto::secagg {

// Who trains: fixed before the first round.
struct TrainingShape {
  std::uint64_t dimension = 0, population = 0, cohort = 0, rounds = 0;
  std::uint64_t group = 0;  // devices in one sum; 0: the cohort is one group
  std::uint64_t group_size() const { return group == 0 ? cohort : group; }
};

struct TrainingBudget {
  double epsilon = 0, delta = 0;
  privacy::Adversary against = privacy::Adversary::server;
  std::uint64_t participations = 0;  // 0: so many that hardly anybody reaches them
  unsigned bits = 18;
  double dropping = 0, corrupted = 0;  // shares of a group that the noise must do without
  double clip = 1;
  // The bound follows a quantile: the clip is 1, in units of the bound, and a clip bit is in the sum.
  bool bound_follows = false;
};

struct CalibratedPlan {
  EncodingPlan plan;
  privacy::TwoAdversaries guarantee;
  privacy::PrivacyPlan accounted;  // the same as a file that `sotto privacy account` reads
};

// Refuses a budget that is not given, a delta that check_delta refuses, and a budget that no noise meets.
// Shows progress, and can be interrupted.
Result<CalibratedPlan> calibrated_plan(const TrainingBudget& budget, const TrainingShape& shape);

// Refuses a delta of one over the number of users or more: a release that shows one user as he is keeps it.
Status check_delta(double delta, std::uint64_t users);

// A share of so many devices as a number of them, rounded up.
std::uint64_t devices_in(double share, std::uint64_t devices);

}  // namespace sotto::secagg
