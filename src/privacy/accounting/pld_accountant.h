#pragma once
// The accountant of privacy loss distributions: composes dominating pairs numerically and brackets the tight
// answer between a proved upper and a proved lower bound.
//
// The lattice step comes from the error target: it starts where splitting mass between lattice points
// inflates the variance of the loss by a ten-thousandth, and is halved until upper − lower meets the target
// (or the largest transform is reached; the gap is in the answer either way). Pure functions, safe from
// several threads.

#include <span>

#include "privacy/accounting/event.h"

namespace sotto::privacy {

struct PldTarget {
  // Wanted: upper − lower ≤ max(relative · upper, absolute).
  double relative = 1e-3;
  double absolute = 1e-4;
  // Without the lower bound: one pass at the first step, in blocks, four to fifty times as fast.
  bool with_lower_bound = true;
};

struct PldAnswer {
  double upper = 0;
  double lower = 0;  // 0 when not asked for
  double step = 0;   // lattice step that was used; 0: none, for a single use
};

// ε at δ. Events need a dominating pair (dominating_pairs says which) and one adjacency and unit. Samplers'
// total variation is charged to the upper bound; the lower bound is that of the pairs, which are those of the
// stated laws unless dominating_gaussian stands for them.
Result<PldAnswer> pld_epsilon(std::span<const PrivacyEvent> events, double delta,
                              const PldTarget& target = {});

}  // namespace sotto::privacy
