#pragma once
// The one release of demand that is served from a run. It is drawn with secret noise when it is first asked
// for and kept in the run's folder: every server and every later training of the run goes on with the same
// groups and shares, so readers pay for it once.
//
// RUN/demand.json           the release: groups of the items, shares, epsilon
// RUN/demand-charges.jsonl  one line per release, on the disk before it is drawn (serving/run_privacy.h)
//
// A release that is lost, or was charged and never written, is made again and charged again.

#include "publish/simulated_readers.h"

namespace sotto::publish {

// Several processes may ask at once. Refuses a release of another epsilon or for another catalogue.
Result<Demand> demand_of_run(const fs::path& run, const data::Dataset& dataset, const Rows& items,
                             const ReaderSettings& settings, std::uint64_t seed);

}  // namespace sotto::publish
