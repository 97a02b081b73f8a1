#pragma once
// Drawing more than there is.

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/distributions.h"

namespace sotto {

// Replaces the values by `count` of them in random order. Distinct positions while there are enough;
// otherwise each is repeated equally often, give or take one. `values` must not be empty.
template <class T>
void sample_evenly(std::vector<T>& values, std::size_t count, RandomSource& random) {
  // Whole copies while they fit, then a random part of one more copy.
  const std::size_t available = values.size(), copies = count / available;
  values.reserve((copies + 1) * available);
  for (std::size_t value = 0; value < copies * available; ++value) values.push_back(values[value]);
  for (std::size_t drawn = copies * available; drawn < count; ++drawn)
    std::swap(values[drawn], values[drawn + uniform_below(random, values.size() - drawn)]);
  values.resize(count);
  if (copies > 0) shuffle(std::span(values), random);
}

}  // namespace sotto
