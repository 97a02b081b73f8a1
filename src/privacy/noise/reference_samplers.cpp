#include "privacy/noise/reference_samplers.h"

#include "base/distributions.h"

namespace sotto::privacy::reference {

namespace {

using Wide = unsigned __int128;

// Uniform in [0, n), by rejection of whole bit strings.
Wide uniform_below_wide(Wide n, RandomSource& random) {
  Wide mask = n - 1;
  for (int shift = 1; shift < 128; shift *= 2) mask |= mask >> shift;
  for (;;) {
    const Wide bits = (static_cast<Wide>(random()) << 64) | random();
    if ((bits & mask) < n) return bits & mask;
  }
}

bool bernoulli_wide(Wide numerator, Wide denominator, RandomSource& random) {
  return uniform_below_wide(denominator, random) < numerator;
}

// e^-γ for γ in [0, 1]: the parity of the first failure in Bernoulli(γ/1), Bernoulli(γ/2), ...
bool bernoulli_exp_below_one(Wide numerator, Wide denominator, RandomSource& random) {
  std::uint64_t k = 1;
  // Bernoulli(γ/k) as two independent events, so that denominator·k cannot overflow.
  while (bernoulli_wide(numerator, denominator, random) && uniform_below(random, k) == 0) ++k;
  return k % 2 == 1;
}

bool bernoulli_exp_wide(Wide numerator, Wide denominator, RandomSource& random) {
  for (; numerator > denominator; numerator -= denominator) {
    if (!bernoulli_exp_below_one(1, 1, random)) return false;
  }
  return bernoulli_exp_below_one(numerator, denominator, random);
}

// floor(sqrt(n)), bit by bit.
Wide floor_of_root(Wide n) {
  Wide root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const Wide candidate = root | (static_cast<Wide>(1) << bit);
    if (candidate <= n / candidate) root = candidate;
  }
  return root;
}

std::uint64_t poisson(Rational mean, RandomSource& random) {
  // Sums of independent Poissons: halves, and what remains.
  std::uint64_t total = 0;
  Wide left = static_cast<Wide>(2) * mean.numerator;
  for (; left >= mean.denominator; left -= mean.denominator) total += small_poisson({1, 2}, random);
  return total + small_poisson({static_cast<std::uint64_t>(left), 2 * mean.denominator}, random);
}

}  // namespace

bool bernoulli(Rational p, RandomSource& random) {
  return bernoulli_wide(p.numerator, p.denominator, random);
}

bool bernoulli_exp(Rational gamma, RandomSource& random) {
  return bernoulli_exp_wide(gamma.numerator, gamma.denominator, random);
}

std::int64_t discrete_laplace(Rational scale, RandomSource& random) {
  for (;;) {
    // x = u + t·v is geometric with ratio e^-1/t; x/s (rounded down) has ratio e^-s/t.
    const std::uint64_t t = scale.numerator, s = scale.denominator;
    const std::uint64_t u = uniform_below(random, t);
    if (!bernoulli_exp({u, t}, random)) continue;
    std::uint64_t v = 0;
    while (bernoulli_exp({1, 1}, random)) ++v;
    const auto magnitude = static_cast<std::int64_t>((u + t * v) / s);
    const bool negative = (random() & 1) != 0;
    if (negative && magnitude == 0) continue;
    return negative ? -magnitude : magnitude;
  }
}

std::int64_t discrete_gaussian(Rational variance, RandomSource& random) {
  const Wide n = variance.numerator, d = variance.denominator;
  const Wide t = floor_of_root(n / d) + 1;
  for (;;) {
    const std::int64_t y = discrete_laplace({static_cast<std::uint64_t>(t), 1}, random);
    const Wide magnitude = static_cast<Wide>(y < 0 ? -y : y);
    // Accepted with probability below e^-2000 there: left out so that the integers below fit 128 bits.
    if (magnitude > 64 * t) continue;
    // γ = (|y| - σ²/t)² / (2σ²) with σ² = n/d.
    const Wide left = magnitude * t * d;
    const Wide distance = left > n ? left - n : n - left;
    if (bernoulli_exp_wide(distance * distance, 2 * t * t * d * n, random)) return y;
  }
}

std::uint64_t small_poisson(Rational mean, RandomSource& random) {
  for (;;) {
    std::uint64_t count = 0;
    while (bernoulli(mean, random)) ++count;
    bool increasing = true;  // probability 1/count!
    for (std::uint64_t k = 2; k <= count && increasing; ++k) increasing = uniform_below(random, k) == 0;
    if (increasing) return count;
  }
}

std::int64_t skellam(Rational variance, RandomSource& random) {
  const Rational mean{variance.numerator, 2 * variance.denominator};
  const auto plus = static_cast<std::int64_t>(poisson(mean, random));
  return plus - static_cast<std::int64_t>(poisson(mean, random));
}

}  // namespace sotto::privacy::reference
