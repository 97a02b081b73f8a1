#pragma once
// Drawing without replacement: how many of k drawn clients are marked, when m of n are. In logarithms, since
// the probabilities that matter are below 2^-40.

#include <cstdint>
#include <vector>

namespace sotto {

struct Hypergeometric {
  std::uint32_t population = 0;
  std::uint32_t marked = 0;  // <= population
  std::uint32_t draws = 0;   // <= population

  // ln P[exactly j marked] for j = 0 … draws; -infinity for what cannot happen.
  std::vector<double> log_probabilities() const;
};

// ln(e^a + e^b).
double log_add(double a, double b);

}  // namespace sotto
