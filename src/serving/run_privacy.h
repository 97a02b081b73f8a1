#pragma once
// What may be said about the privacy of a run that is served: of its training, by the run's own datasheet,
// and of the releases of demand that its packs were made with.

#include <cstdint>
#include <string>

#include "base/files.h"
#include "base/result.h"

namespace sotto::serving {

// One JSON object per release, {"epsilon": …}, on the disk before it was drawn (publish/run_demand.h).
inline constexpr const char* demand_charges_file = "demand-charges.jsonl";

struct DemandCharges {
  std::uint64_t releases = 0;
  double epsilon = 0;  // of all of them together, per training reader
};
// None where the file is missing; refuses a damaged one.
Result<DemandCharges> demand_charges(const fs::path& run);

// Above it an ε hides nothing: odds change by e^20.
inline constexpr double largest_meaningful_epsilon = 20;

struct RunPrivacy {
  bool holds = false;   // an ε that means something, for what is published
  std::string text;     // for people
  std::string as_json;  // {"training": ε or null, "training_server": ε or null, "delta": …, "demand": ε,
                        // "demand_releases": n, "published": sum or null, "simulation": sentence or null}
};
Result<RunPrivacy> privacy_of_run(const fs::path& run);

}  // namespace sotto::serving
