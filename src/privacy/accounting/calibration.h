#pragma once
// The smallest noise that meets a budget. The search keeps an upper end whose ε was computed and found within
// the budget, and that end is the answer: never less noise than needed, at most 0.01 % more.

#include <functional>
#include <vector>

#include "privacy/accounting/event.h"

namespace sotto {

struct Budget {
  double epsilon = 0;
  double delta = 0;
};

// `events(noise)` must get more private as the noise grows.
Result<double> smallest_noise(const Budget& budget, Method method,
                              const std::function<std::vector<PrivacyEvent>(double noise)>& events);

// Gaussian noise multiplier for `rounds` uses. Closed form where it applies, else the method.
Result<double> smallest_gaussian_noise(const Budget& budget, Method method, std::uint64_t rounds,
                                       const Sampling& sampling, Adjacency adjacency);

}  // namespace sotto
