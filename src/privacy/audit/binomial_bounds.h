#pragma once
// Binomial tails and the exact (Clopper, Pearson 1934) confidence bounds on a probability. Tails are summed
// term by term from the end that matters, so that a tail of 1e-200 has as many correct digits as one of 0.1
// (about nine, for up to 10^8 trials). Pure functions.

#include <cstdint>

namespace sotto {

// P[X = successes], X ~ Binomial(trials, p).
double binomial_mass(std::uint64_t trials, std::uint64_t successes, double p);
// P[X >= successes].
double binomial_at_least(std::uint64_t trials, std::uint64_t successes, double p);
// P[X <= successes].
double binomial_at_most(std::uint64_t trials, std::uint64_t successes, double p);

// The probability behind `successes` of `trials` is at least (at most) this, except with probability
// `failure` over the trials. Rounded to the safe side.
double clopper_pearson_lower(std::uint64_t trials, std::uint64_t successes, double failure);
double clopper_pearson_upper(std::uint64_t trials, std::uint64_t successes, double failure);

}  // namespace sotto
