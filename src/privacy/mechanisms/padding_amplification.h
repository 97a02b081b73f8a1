#pragma once
// Padding: every clicked item is replaced by a public one with probability p before anything is computed from
// it.
//
// If the mechanism after padding is (ε₀, δ₀)-DP for one replaced click, the whole is (log(1 + (1−p)(e^ε₀ −
// 1)), (1−p)δ₀)-DP: couple the padding of both neighbours; with probability p the click that differs is
// padded away and the outputs agree. Holds for one click (not the whole history), and only while nothing
// reveals which items were padded.

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "privacy/noise/device_random.h"

namespace sotto {

struct EpsilonDelta {
  double epsilon = 0;
  double delta = 0;
};

// What holds after padding for a mechanism that has `before` without it.
EpsilonDelta amplified_by_padding(EpsilonDelta before, double padding);
// What the mechanism may spend so that `after` holds with padding.
EpsilonDelta budget_before_padding(EpsilonDelta after, double padding);

// One entry per clicked item: 1 where the item is replaced. Probability exactly ceil(p·2^64)/2^64.
Result<std::vector<unsigned char>> draw_padding(std::size_t items, double padding, DeviceRandom random);

}  // namespace sotto
