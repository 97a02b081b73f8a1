#pragma once
// From samples of a statistic on two neighbours to a lower bound of ε.
//
// (ε, δ)-DP says P(E) <= e^ε·Q(E) + δ for every event E, so one event with a provably large P(E) and a
// provably small Q(E) proves ε >= log((P(E) − δ)/Q(E)). The event, a threshold on one of several statistics
// in either direction, is chosen on one half of the samples by an approximate bound and judged on the other
// half by exact ones: choosing costs no confidence.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sotto::privacy {

// Binomial tails and the exact (Clopper, Pearson 1934) confidence bounds on a probability. Tails are summed
// term by term from the end that matters, so that a tail of 1e-200 has as many correct digits as one of 0.1
// (about nine, for up to 10^8 trials). Pure functions.

// P[X = successes], X ~ Binomial(trials, p).
double binomial_mass(std::uint64_t trials, std::uint64_t successes, double p);
// P[X >= successes].
double binomial_at_least(std::uint64_t trials, std::uint64_t successes, double p);
// P[X <= successes].

// The probability behind `successes` of `trials` is at least (at most) this, except with probability
// `failure` over the trials. Rounded to the safe side.
double clopper_pearson_lower(std::uint64_t trials, std::uint64_t successes, double failure);
double clopper_pearson_upper(std::uint64_t trials, std::uint64_t successes, double failure);

// Values of one statistic, independent draws on each neighbour.
struct PairSample {
  std::vector<double> first, second;
};

struct ThresholdEvent {
  std::size_t statistic = 0;  // index of the candidate
  double threshold = 0;
  bool above = true;         // value >= threshold, else value < threshold
  bool likely_first = true;  // on which neighbour the event is the likely one
};

// With the stated confidence both hold: P(event) >= likely on one neighbour, <= unlikely on the other.
struct RateBounds {
  double likely = 0;
  double unlikely = 1;
};

// What an event with these rates would prove; larger is better. Only ranks events, so it need not be exact.
using EventScore = std::function<double(const RateBounds&)>;

// The best event of all candidates. Every candidate must have at least one value on each side. `failure` is
// the one the bounds will be asked for later.
ThresholdEvent choose_event(std::span<const PairSample> candidates, double failure, const EventScore& score);

// Exact bounds for an event that was chosen without looking at `sample`; each fails with probability
// failure/2.
RateBounds bound_rates(const ThresholdEvent& event, const PairSample& sample, double failure);

// log((likely − δ)/unlikely), at least 0.
double epsilon_of_rates(const RateBounds& rates, double delta);

}  // namespace sotto::privacy
