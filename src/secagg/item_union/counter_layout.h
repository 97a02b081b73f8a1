#pragma once
// Where the counts of items live: one counter per item, or, for large catalogues, `rows` tables of fewer
// counters in which every item has one public place each. Several items may share a counter.
//
// Immutable, safe to share between threads.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace sotto {

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

}  // namespace sotto
