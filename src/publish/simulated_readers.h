#pragma once
// Readers who do not exist: histories made from the item side, with which prototypes are built and mechanisms
// tuned, so that no real history is looked at for it.
//
// Items are grouped by their vectors. A simulated reader has one to eight interests, groups drawn by demand,
// and clicks mostly items of these. Demand is the one thing taken from real readers: the share of clicks per
// group, released once with Laplace noise. Each reader counts 1 in all, split over the groups of its clicks,
// so replacing one moves the counts by at most 2 in L1.

#include <cstdint>

#include "data/dataset.h"
#include "privacy/noise/noise_origin.h"
#include "publish/rows.h"

namespace sotto::publish {

struct ReaderSettings {
  std::int64_t readers = 8000;
  std::int64_t groups = 64;
  double demand_epsilon = 1;  // of the one release of demand, per training reader; 0: no release
  std::int64_t max_history = 50;
};

// What readers ask for.
struct Demand {
  std::vector<std::uint32_t> group_of;  // per item
  std::vector<double> shares;           // per group, summing to 1
};

// Items grouped by their vectors, every item as much in demand as every other: nothing of any reader.
Demand demand_of_items(const Rows& items, const ReaderSettings& settings, std::uint64_t seed);

// Readers per group, with the noise of the release. Reads training clicks only.
Result<std::vector<double>> noisy_group_counts(const data::Dataset& dataset,
                                               std::span<const std::uint32_t> group_of, std::size_t groups,
                                               double epsilon, const privacy::NoiseOrigin& noise);
// The same groups with the demand of the data's readers, at least one reader per group. A release with
// settings.demand_epsilon, anew at every call: what is served releases once and keeps it (run_demand.h).
Result<Demand> release_demand(const data::Dataset& dataset, const Rows& items, const ReaderSettings& settings,
                              std::uint64_t seed, const privacy::NoiseOrigin& noise);

// One history per reader, oldest click first, never empty.
std::vector<std::vector<data::ItemId>> simulate_histories(const Demand& demand,
                                                          const ReaderSettings& settings, std::uint64_t seed);

}  // namespace sotto::publish
