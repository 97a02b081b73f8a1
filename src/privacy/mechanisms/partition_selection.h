#pragma once
// Which items may be named? Each user holds a set of items; the union must be released without giving one
// user away.
//
// Every user keeps at most `cap` items (a random subset). Two forms:
//  * UnknownItems: only items that somebody holds are counted. An item is named when count + discrete
//  Laplace(cap/ε) >= τ, with τ
//    such that an item held by one user alone is named with probability at most δ/cap. (ε, δ)-DP for one user
//    more or fewer: counts of common items change by at most cap in L1; items that only this user holds show
//    with probability <= δ in all.
//  * PublicCatalogue: every item of a public catalogue gets noise, held or not, so the noisy counts
//  themselves are a Gaussian
//    release with L2 sensitivity √cap and any threshold is post-processing. This is the form inside a secure
//    sum.
// A threshold without noise is neither: it is not differentially private.
//
// Immutable after creation, safe to share between threads.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "privacy/accounting/event.h"
#include "privacy/noise/device_random.h"
#include "privacy/noise/grid_noise.h"

namespace sotto::privacy {

// A uniformly random subset of at most `cap` of the user's items, duplicates removed first.
std::vector<std::uint32_t> cap_items(std::span<const std::uint32_t> items, std::uint32_t cap,
                                     DeviceRandom random);

struct ItemCount {
  std::uint32_t item = 0;
  std::uint64_t users = 0;
};

class UnknownItems {
 public:
  static Result<UnknownItems> create(double epsilon, double delta, std::uint32_t cap);
  // counts: items held by at least one user, after capping. Returns those named, with their noisy counts.
  Result<std::vector<std::pair<std::uint32_t, std::int64_t>>> select(std::span<const ItemCount> counts,
                                                                     DeviceRandom random) const;
  std::int64_t threshold() const { return threshold_; }
  PrivacyEvent event() const;

 private:
  UnknownItems(double epsilon, double delta, std::uint32_t cap, DiscreteLaplace noise, std::int64_t threshold)
      : epsilon_(epsilon), delta_(delta), cap_(cap), noise_(std::move(noise)), threshold_(threshold) {}
  double epsilon_;
  double delta_;
  std::uint32_t cap_;
  DiscreteLaplace noise_;
  std::int64_t threshold_;
};

class PublicCatalogue {
 public:
  // sigma: noise on every count.
  static Result<PublicCatalogue> create(double sigma, std::uint32_t cap, std::uint64_t items);
  Result<std::vector<std::int64_t>> noisy_counts(std::span<const std::uint64_t> users_per_item,
                                                 DeviceRandom random) const;
  static std::vector<std::uint32_t> at_least(std::span<const std::int64_t> noisy_counts,
                                             std::int64_t threshold);
  PrivacyEvent event() const;

 private:
  PublicCatalogue(std::uint32_t cap, std::uint64_t items, DiscreteGaussian noise)
      : cap_(cap), items_(items), noise_(std::move(noise)) {}
  std::uint32_t cap_;
  std::uint64_t items_;
  DiscreteGaussian noise_;
};

}  // namespace sotto::privacy
