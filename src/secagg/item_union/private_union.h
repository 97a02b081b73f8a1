#pragma once
// Which items of a public catalogue do enough people hold? Differentially private: noised counts inside the
// secure sum, and a threshold applied by the server.
//
// A device keeps at most `cap` items (a random subset), adds 1 to each of their counters, a counter at most
// once, and a noise share to EVERY counter. The noisy counts are what is released and charged; the threshold
// is post-processing, so nothing depends on which items were held. One device's update has L2 norm at most
// √(cap·rows), L1 norm cap·rows; adding or removing one (its update becomes zero, its noise share stays)
// moves the counts by that, replacing one by √(2·cap·rows).
//
// An item is named when the mean of its rows reaches threshold() and each row is at most one standard
// deviation of noise below it. The threshold is such that over the whole catalogue at most
// `expected_false_positives` items that nobody holds are expected by noise; items that share counters with
// held ones come on top: false_positive_bound(). The mean over rows has the noise of a single row layout
// (√rows more noise in each row, averaged over rows of them), so hashing costs no accuracy, only collisions.
//
// Immutable after creation, safe to share between threads.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "privacy/mechanisms/noise_share.h"
#include "secagg/vectors/modulus.h"

namespace sotto::secagg {

// Where the counts of items live: one counter per item, or, for large catalogues, `rows` tables of fewer
// counters in which every item has one public place each. Several items may share a counter.
//
// Immutable, safe to share between threads.
class CounterLayout {
 public:
  struct Hashed {
    std::uint32_t rows = 3;
    std::uint32_t counters = 0;  // in each row
    std::uint64_t seed = 0;      // public
  };
  static Result<CounterLayout> one_per_item(std::uint64_t catalogue);
  static Result<CounterLayout> hashed(std::uint64_t catalogue, const Hashed& hashed);

  std::uint64_t catalogue() const { return catalogue_; }
  std::uint32_t rows() const { return hashed_ ? hashed_->rows : 1; }
  std::uint64_t counters_per_row() const { return hashed_ ? hashed_->counters : catalogue_; }
  std::uint64_t counters() const { return rows() * counters_per_row(); }
  bool shares_counters() const { return hashed_.has_value(); }
  // Among all counters, row after row.
  std::uint64_t counter_of(std::uint32_t item, std::uint32_t row) const;
  // The counters of a set of items, ascending, each once: at most rows() per item.
  std::vector<std::uint64_t> counters_of(std::span<const std::uint32_t> items) const;

 private:
  CounterLayout(std::uint64_t catalogue, std::optional<Hashed> hashed)
      : catalogue_(catalogue), hashed_(hashed) {}
  std::uint64_t catalogue_;
  std::optional<Hashed> hashed_;
};

class PrivateUnion {
 public:
  struct Settings {
    std::uint32_t cap = 0;        // items per user
    std::uint64_t devices = 0;    // in the group
    std::uint64_t dropped = 0;    // at most
    std::uint64_t corrupted = 0;  // at most
    privacy::ShareKind noise = privacy::ShareKind::skellam;
    double noise_multiplier = 0;  // over the L2 sensitivity
    double expected_false_positives = 1;
    privacy::Adjacency adjacency = privacy::Adjacency::add_remove;
    double log2_wrap_probability = -30;
  };
  static Result<PrivateUnion> create(const CounterLayout& layout, const Settings& settings);

  // One entry per counter, below 2^b. Fresh randomness for every round.
  Result<std::vector<std::uint32_t>> encode(std::span<const std::uint32_t> items,
                                            privacy::DeviceRandom random) const;
  // Ascending.
  Result<std::vector<std::uint32_t>> decode(std::span<const std::uint32_t> sum) const;

  privacy::PrivacyEvent event() const { return share_.event(); }
  // Against the server, which sees the noisy counts and who takes part.
  Result<privacy::Guarantee> guarantee(double delta) const;

  double threshold() const;  // on the mean count
  // Items that nobody holds and that are named, expected, when `held` items are held: noise and collisions.
  double false_positive_bound(std::uint64_t held) const;

  const Modulus& modulus() const { return modulus_; }
  const CounterLayout& layout() const { return layout_; }
  std::size_t bytes_per_device() const;

 private:
  PrivateUnion(const CounterLayout& layout, const Settings& settings, privacy::NoiseShare share,
               Modulus modulus);
  CounterLayout layout_;
  Settings settings_;
  privacy::NoiseShare share_;
  Modulus modulus_;
  NoiseSum row_noise_;          // when nobody drops: the most noise there can be
  std::int64_t sum_threshold_;  // on the sum over rows
  std::int64_t row_threshold_;
};

}  // namespace sotto::secagg
