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
#include "publish/rows.h"

namespace sotto::publish {

struct ReaderSettings {
  std::int64_t readers = 8000;
  std::int64_t groups = 64;
  double demand_epsilon = 1;  // of the one release of demand, per training reader; 0: no release
  std::int64_t max_history = 50;
};

// Readers per group, with the noise of the release. Reads training clicks only.
Result<std::vector<double>> noisy_group_counts(const data::Dataset& dataset,
                                               std::span<const std::uint32_t> group_of, std::size_t groups,
                                               double epsilon, std::uint64_t seed);
// The same as shares of demand: at least one reader per group, summing to 1.
Result<std::vector<double>> release_demand(const data::Dataset& dataset,
                                           std::span<const std::uint32_t> group_of, std::size_t groups,
                                           double epsilon, std::uint64_t seed);

// One history per reader, oldest click first, never empty. group_of: per item. demand: per group.
std::vector<std::vector<data::ItemId>> simulate_histories(std::span<const std::uint32_t> group_of,
                                                          std::span<const double> demand,
                                                          const ReaderSettings& settings, std::uint64_t seed);

}  // namespace sotto::publish
