#pragma once
// Straightforward exact samplers: integer arithmetic and fair bits only, one idea per function, readable
// against the papers. Slow. The fast sampler is held against them by tests and by `sotto bench noise`.
// Parameters are rationals numerator/denominator.

#include <cstdint>

#include "base/random.h"

namespace sotto::privacy::reference {

struct Rational {
  std::uint64_t numerator = 0;
  std::uint64_t denominator = 1;
};

// True with probability numerator/denominator <= 1.
bool bernoulli(Rational p, RandomSource& random);
// True with probability e^-(numerator/denominator) (Canonne, Kamath, Steinke 2020, Algorithm 1).
bool bernoulli_exp(Rational gamma, RandomSource& random);
// P(x) ∝ e^-|x|/scale (same paper, Algorithm 2). scale.numerator < 2^53.
std::int64_t discrete_laplace(Rational scale, RandomSource& random);
// P(x) ∝ e^-x²/(2σ²) (same paper, Algorithm 3). σ² = variance with denominator 1024, σ <= 2^21.
std::int64_t discrete_gaussian(Rational variance, RandomSource& random);
// Poisson(numerator/denominator) for a mean below 1 (von Neumann's scheme: a geometric number of draws, kept
// when they come in increasing order).
std::uint64_t small_poisson(Rational mean, RandomSource& random);
// Difference of two Poisson(variance/2); time grows with the variance.
std::int64_t skellam(Rational variance, RandomSource& random);

}  // namespace sotto::privacy::reference
