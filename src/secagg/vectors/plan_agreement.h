#pragma once
// What a device demands of the plan of every round it is asked to take part in: the numbers that the ε it
// agreed to rests on. The server proposes plans, the device decides; it works out noise and sensitivity of a
// plan by itself, so that a plan cannot state more than it does.
//
// Not checked, because no device can see it: how many of a cohort the server has corrupted, and how many it
// lets vanish. `corrupted` and `dropped` are assumptions about each cohort, and the server picks cohorts.

#include "secagg/vectors/update_encoding.h"

namespace sotto::secagg {

// A plain value.
struct PlanAgreement {
  double noise_multiplier = 0;        // of the sum over its sensitivity, at least
  privacy::Adjacency adjacency{};     // exactly
  std::uint64_t devices = 0;          // in a group, at least
  double dropped = 0, corrupted = 0;  // shares of a group that the noise must do without, at least
  static PlanAgreement to(const EncodingPlan& plan);

  // Refuses a weaker plan and says in which number.
  Status check(const EncodingPlan& proposed) const;
};

}  // namespace sotto::secagg
