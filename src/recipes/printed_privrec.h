#pragma once
// DP-PrivRec's own privacy settings, what the paper claims for them and what really holds.

#include "base/settings.h"
#include "fl/server_optimiser.h"
#include "privacy/accounting/datasheet.h"
#include "privacy/mechanisms/adaptive_clip.h"

namespace sotto {

struct PrintedPrivRecSettings {
  double noise = 1, budget_share = 0.7, quantile = 0.9, initial_bound = 40, smallest_bound = 0.01,
         bound_rate = 1;
  void bind(SettingsTable& table);
  // Refuses optimisers other than plain sgd: the printed noise is added to its step.
  Result<AdaptiveClip::Settings> adaptive_clip(const OptimiserSettings& optimiser, std::int64_t cohort) const;
};

// The page of a run in paper mode: nobody's participations are capped.
Result<PrivacyDatasheet> printed_datasheet(const AdaptiveClip::Settings& clip, std::uint64_t population,
                                           std::int64_t rounds, double delta);

}  // namespace sotto
