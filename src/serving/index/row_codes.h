#pragma once
// The values of a segment once more, in 16 bits: each between the smallest and largest of its block and
// dimension, in 65,536 steps. A look at them moves half the memory; what it cannot rule out is scored exactly
// from the full values.
//
// Immutable; safe to share between threads.

#include <cstdint>
#include <span>
#include <vector>

#include "serving/index/scan_kernels.h"

namespace sotto::serving {

class Segment;

class RowCodes {
 public:
  explicit RowCodes(const Segment& segment);

  // Sums of lowest + step * code take a few more roundings, of numbers up to three times as large, than
  // ScaledQuery::slack() counts.
  static constexpr double slack_factor = 8;
  // At least the scores of the block's rows, less slack_factor times that slack. Returns the largest.
  float upper_scores(std::size_t block, std::span<const Term> terms,
                     std::span<float, block_rows> upper) const;
  std::size_t bytes() const {
    return codes_.size() * sizeof(std::uint16_t) + (lowest_.size() + steps_.size()) * sizeof(float);
  }

 private:
  double coarseness(std::size_t block, std::span<const Term> terms) const;

  std::size_t dimension_;
  std::vector<std::uint16_t> codes_;   // blocks x dimension x block_rows
  std::vector<float> lowest_, steps_;  // blocks x dimension: value = lowest + step * code
};

}  // namespace sotto::serving
