#include "secagg/shared/hypergeometric.h"

#include <cmath>
#include <limits>
#include <utility>

namespace sotto {

namespace {

double log_choose(std::uint32_t n, std::uint32_t k) {
  return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(static_cast<double>(n - k) + 1.0);
}

}  // namespace

std::vector<double> Hypergeometric::log_probabilities() const {
  std::vector<double> result(draws + 1, -std::numeric_limits<double>::infinity());
  const std::uint32_t unmarked = population - marked;
  const double all = log_choose(population, draws);
  for (std::uint32_t j = draws > unmarked ? draws - unmarked : 0; j <= draws && j <= marked; ++j) {
    result[j] = log_choose(marked, j) + log_choose(unmarked, draws - j) - all;
  }
  return result;
}

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return std::isinf(a) ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace sotto
